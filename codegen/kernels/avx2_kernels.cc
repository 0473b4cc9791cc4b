// Built with -march=x86-64-v3; reached only where the CPU has it.
#define FUSEFARM_KERNEL_ISA avx2
#include "codegen/kernels/table_builder.h"

namespace fusefarm::codegen {

const KernelTable& avx2_kernel_table() {
  static const KernelTable table = avx2::build_table();
  return table;
}

}  // namespace fusefarm::codegen
