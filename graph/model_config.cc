#include <set>

#include "graph/config_reader.h"
#include "graph/model_family.h"
#include "graph/model_import.h"
#include "graph/strict_json.h"

namespace fusefarm::graph {
namespace {

// Keys of Hugging Face configs that do not change what one step computes: tokenizer ids, training,
// generation defaults, bookkeeping, storage layout.
const std::set<std::string>& harmless_keys() {
  static const std::set<std::string> keys{"_name_or_path",
                                          "architectures",
                                          "attention_dropout",
                                          "attn_implementation",
                                          "_attn_implementation",
                                          "auto_map",
                                          "begin_suppress_tokens",
                                          "bos_token_id",
                                          "chunk_size_feed_forward",
                                          "decoder_start_token_id",
                                          "diversity_penalty",
                                          "do_sample",
                                          "early_stopping",
                                          "embd_pdrop",
                                          "embedding_dropout",
                                          "eos_token_id",
                                          "ep_size",
                                          "finetuning_task",
                                          "hidden_dropout",
                                          "id2label",
                                          "initializer_range",
                                          "label2id",
                                          "length_penalty",
                                          "mask_token_id",
                                          "max_length",
                                          "max_new_tokens",
                                          "max_position_embeddings",
                                          "max_window_layers",
                                          "min_length",
                                          "model_name",
                                          "name_or_path",
                                          "norm_softmax",
                                          "num_beam_groups",
                                          "num_beams",
                                          "num_return_sequences",
                                          "output_attentions",
                                          "output_dropout",
                                          "output_hidden_states",
                                          "output_router_logits",
                                          "output_scores",
                                          "pad_token_id",
                                          "prefix",
                                          "pretraining_tp",
                                          "problem_type",
                                          "repetition_penalty",
                                          "resid_pdrop",
                                          "return_dict",
                                          "return_dict_in_generate",
                                          "router_aux_loss_coef",
                                          "aux_loss_alpha",
                                          "seq_aux",
                                          "sep_token_id",
                                          "task_specific_params",
                                          "temperature",
                                          "tokenizer_class",
                                          "top_k",
                                          "top_p",
                                          "torchscript",
                                          "transformers_version",
                                          "typical_p",
                                          "unsloth_fixed",
                                          "use_cache",
                                          "using_split_qkv_in_self_attention",
                                          "block_size",
                                          "block_length"};
  return keys;
}

Result<DType> read_dtype(ConfigReader& reader) {
  const std::string key = reader.has("torch_dtype") ? "torch_dtype" : "dtype";
  const std::string name = TRY(reader.text(key, "bfloat16"));
  reader.value("dtype");
  if (name == "float32") {
    return DType::kF32;
  }
  // The step's dtype is the campaign's choice; a checkpoint in fp16 would be converted.
  if (name == "bfloat16" || name == "float16") {
    return DType::kBF16;
  }
  return reader.wrong(key, "expected bfloat16, float16 or float32", ErrorCode::kUnsupported);
}

}  // namespace

Result<ModelConfig> parse_model_config(std::string_view json, const std::string& source) {
  const nlohmann::json object = TRY(parse_strict_json(json, source, true));
  if (!object.is_object()) {
    return Error{ErrorCode::kInvalidArgument,
                 source + ": a model config is one JSON object, this is " + shown(object)};
  }
  ConfigReader reader(object, json, source);
  ModelConfig config;
  config.family = TRY(model_family(reader));
  TRY(refuse_unsupported(reader, config));
  config.hidden = TRY(reader.integer("hidden_size", 1 << 17));
  config.layers = TRY(reader.integer("num_hidden_layers", 1024));
  config.intermediate = TRY(reader.integer("intermediate_size", 1 << 20));
  config.vocabulary = TRY(reader.integer("vocab_size", 1 << 24));
  config.norm_eps = TRY(reader.real("rms_norm_eps", 1e-6));
  config.tied_embeddings = TRY(reader.boolean("tie_word_embeddings", false));
  config.dtype = TRY(read_dtype(reader));
  TRY(read_attention(reader, config));
  TRY(read_rope(reader, json, source, config));
  TRY(read_experts(reader, config));
  TRY(reader.refuse_unread(harmless_keys(), config.family));
  return config;
}

}  // namespace fusefarm::graph
