// Built for the baseline instruction set of the architecture.
#define FUSEFARM_KERNEL_ISA portable
#include "codegen/kernels/table_builder.h"

namespace fusefarm::codegen {

const KernelTable& portable_kernel_table() {
  static const KernelTable table = portable::build_table();
  return table;
}

}  // namespace fusefarm::codegen
