#include <utility>

#include <dnnl.hpp>

#include "runner/gemm_library.h"

namespace fusefarm::runner {
namespace {

using codegen::TensorArg;
using Memory = dnnl::memory;

Memory::desc plain(std::int64_t rows, std::int64_t columns) {
  return {{rows, columns}, Memory::data_type::f32, Memory::format_tag::ab};
}

// One thread's columns: an inner product whose weight has the layout that the library asked for.
struct Share {
  ColumnRange range;
  dnnl::inner_product_forward primitive;
  std::vector<float> x, y;
  Memory source, destination;
  std::vector<Memory> weights;  // one a copy
  dnnl::stream stream;
};

class OneDnnGemm final : public GemmLibrary {
 public:
  OneDnnGemm(GemmShape shape, dnnl::engine engine, std::vector<Share> shares)
      : shape_(shape), engine_(std::move(engine)), shares_(std::move(shares)) {}

  void run(std::span<const TensorArg> tensors, std::uint32_t copy, int thread) override {
    Share& share = shares_[static_cast<std::size_t>(thread)];
    if (share.range.begin == share.range.end || shape_.rows == 0) {
      return;
    }
    widen(tensors[0], share.x.data());
    share.primitive.execute(share.stream,
                            {{DNNL_ARG_SRC, share.source},
                             {DNNL_ARG_WEIGHTS, share.weights[copy % share.weights.size()]},
                             {DNNL_ARG_DST, share.destination}});
    share.stream.wait();
    store_columns(share.y.data(), share.range, shape_.bias ? &tensors[2] : nullptr, tensors.back());
  }

 private:
  GemmShape shape_;
  dnnl::engine engine_;
  std::vector<Share> shares_;
};

Share make_share(const GemmShape& shape, const TensorArg& weight, ColumnRange range,
                 const std::vector<const void*>& copies, const dnnl::engine& engine) {
  const std::int64_t width = range.end - range.begin;
  Share share;
  share.range = range;
  if (width == 0 || shape.rows == 0) {
    return share;
  }
  const Memory::desc any({width, shape.k}, Memory::data_type::f32, Memory::format_tag::any);
  const dnnl::inner_product_forward::desc operation(dnnl::prop_kind::forward_inference,
                                                    plain(shape.rows, shape.k), any,
                                                    plain(shape.rows, width));
  const dnnl::inner_product_forward::primitive_desc chosen(operation, engine);
  share.primitive = dnnl::inner_product_forward(chosen);
  share.x.resize(static_cast<std::size_t>(shape.rows * shape.k));
  share.y.resize(static_cast<std::size_t>(shape.rows * width));
  share.source = Memory(chosen.src_desc(), engine, share.x.data());
  share.destination = Memory(chosen.dst_desc(), engine, share.y.data());
  share.stream = dnnl::stream(engine);
  std::vector<float> rows(static_cast<std::size_t>(width * shape.k));
  for (const void* copy : copies) {
    TensorArg part = weight;
    const std::int64_t skipped = range.begin * shape.k * graph::bytes_of(weight.dtype);
    part.data = const_cast<std::byte*>(static_cast<const std::byte*>(copy)) + skipped;
    part.rows = width;
    widen(part, rows.data());
    Memory from(plain(width, shape.k), engine, rows.data());
    Memory blocked(chosen.weights_desc(), engine);
    dnnl::reorder(from, blocked).execute(share.stream, from, blocked);
    share.stream.wait();
    share.weights.push_back(std::move(blocked));
  }
  return share;
}

}  // namespace

Result<std::unique_ptr<GemmLibrary>> prepare_onednn(std::span<const TensorArg> tensors,
                                                    const std::vector<const void*>& weights,
                                                    int threads) {
  const GemmShape shape = TRY(gemm_shape(tensors));
  try {
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    std::vector<Share> shares;
    for (int t = 0; t < threads; ++t) {
      shares.push_back(
          make_share(shape, tensors[1], column_share(shape.n, t, threads), weights, engine));
    }
    return std::unique_ptr<GemmLibrary>(
        std::make_unique<OneDnnGemm>(shape, engine, std::move(shares)));
  } catch (const dnnl::error& error) {
    return Error{ErrorCode::kUnsupported, std::string("oneDNN: ") + error.what()};
  }
}

}  // namespace fusefarm::runner
