// A campaign file: YAML as an operator writes it -> CampaignSpec with every default filled in.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "records/campaign.h"

namespace fusefarm::configs {

// Reads and checks the file. Errors name file, line, column, key, value and what is allowed; they
// are kInvalidArgument, kNotFound, or kUnsupported for what is understood but not done by this
// program. model.config is relative to the campaign file; store.path and output.folder to the
// current folder.
Result<CampaignSpec> load_campaign(const std::string& path);

// The same from text, without looking at the file system: the model config need not exist. `source`
// names the text in errors, and its folder is where model.config starts.
Result<CampaignSpec> parse_campaign(std::string_view text, const std::string& source);

// Every key with type, default and meaning, for people (`fusefarm run --explain-config`).
std::string explain_config();

}  // namespace fusefarm::configs
