// fusefarm-judge: started by a worker, with one end of a channel as descriptor.
#include <cstdio>
#include <cstring>

#include "base/text.h"
#include "judge/serve.h"

int main(int argc, char** argv) {
  if (argc != 3 || std::strcmp(argv[1], "--channel") != 0) {
    std::fputs("usage: fusefarm-judge --channel FD (started by a fusefarm worker)\n", stderr);
    return 2;
  }
  const auto fd = fusefarm::parse_int(argv[2]);
  if (!fd.ok() || *fd < 3 || *fd > 1023) {
    std::fputs("error: --channel names no descriptor\n", stderr);
    return 2;
  }
  return fusefarm::judge::serve(fusefarm::UniqueFd(static_cast<int>(*fd)),
                                fusefarm::system_clock());
}
