// fusefarm-compile: started by a worker inside its sandbox, with one end of a channel as
// descriptor.
#include <cstdio>
#include <cstring>

#include "base/text.h"
#include "compile/serve.h"

int main(int argc, char** argv) {
  if (argc != 5 || std::strcmp(argv[1], "--channel") != 0 ||
      std::strcmp(argv[3], "--folder") != 0) {
    std::fputs("usage: fusefarm-compile --channel FD --folder DIR (started by a fusefarm worker)\n",
               stderr);
    return 2;
  }
  const auto fd = fusefarm::parse_int(argv[2]);
  if (!fd.ok() || *fd < 3 || *fd > 1023) {
    std::fputs("error: --channel names no descriptor\n", stderr);
    return 2;
  }
  return fusefarm::compile::serve(fusefarm::UniqueFd(static_cast<int>(*fd)), argv[4],
                                  fusefarm::system_clock());
}
