// Ctrl-C and SIGTERM as a question that loops ask. A second signal ends the process at once.
#pragma once

namespace fusefarm::cli {

// From now on SIGINT and SIGTERM only set the flag, once. Call once, from main's thread.
void watch_for_interrupt();
bool interrupted();

}  // namespace fusefarm::cli
