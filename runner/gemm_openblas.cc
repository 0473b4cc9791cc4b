#include <cblas.h>

#include "runner/gemm_library.h"

extern "C" char* openblas_get_corename();

namespace fusefarm::runner {
namespace {

using codegen::TensorArg;

class OpenBlasGemm final : public GemmLibrary {
 public:
  OpenBlasGemm(GemmShape shape, std::vector<const float*> weights, int threads)
      : shape_(shape), threads_(threads), weights_(std::move(weights)) {
    scratch_.resize(static_cast<std::size_t>(threads));
    for (int t = 0; t < threads; ++t) {
      const ColumnRange range = column_share(shape_.n, t, threads_);
      auto& own = scratch_[static_cast<std::size_t>(t)];
      own.x.resize(static_cast<std::size_t>(shape_.rows * shape_.k));
      own.y.resize(static_cast<std::size_t>(shape_.rows * (range.end - range.begin)));
    }
  }

  void run(std::span<const TensorArg> tensors, std::uint32_t copy, int thread) override {
    const ColumnRange range = column_share(shape_.n, thread, threads_);
    const std::int64_t width = range.end - range.begin;
    if (width == 0 || shape_.rows == 0) {
      return;
    }
    Scratch& own = scratch_[static_cast<std::size_t>(thread)];
    widen(tensors[0], own.x.data());
    const float* weight = weights_[copy % weights_.size()] + (range.begin * shape_.k);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<blasint>(shape_.rows),
                static_cast<blasint>(width), static_cast<blasint>(shape_.k), 1.0F, own.x.data(),
                static_cast<blasint>(shape_.k), weight, static_cast<blasint>(shape_.k), 0.0F,
                own.y.data(), static_cast<blasint>(width));
    store_columns(own.y.data(), range, shape_.bias ? &tensors[2] : nullptr, tensors.back());
  }

 private:
  struct Scratch {
    std::vector<float> x, y;
  };

  GemmShape shape_;
  int threads_;
  std::vector<const float*> weights_;
  std::vector<Scratch> scratch_;  // one a thread
};

}  // namespace

Result<std::unique_ptr<GemmLibrary>> prepare_openblas(std::span<const TensorArg> tensors,
                                                      const std::vector<const void*>& weights,
                                                      int threads) {
  const GemmShape shape = TRY(gemm_shape(tensors));
  if (tensors[1].dtype != graph::DType::kF32) {
    return Error{ErrorCode::kUnsupported, "OpenBLAS needs the weight prepared as f32"};
  }
  openblas_set_num_threads(1);
  std::vector<const float*> copies;
  copies.reserve(weights.size());
  for (const void* weight : weights) {
    copies.push_back(static_cast<const float*>(weight));
  }
  return std::unique_ptr<GemmLibrary>(
      std::make_unique<OpenBlasGemm>(shape, std::move(copies), threads));
}

std::string openblas_core() { return openblas_get_corename(); }

}  // namespace fusefarm::runner
