#include "store/history.h"

#include <sys/stat.h>

#include "graph/graph_io.h"
#include "records/campaign_json.h"
#include "records/candidate_json.h"
#include "records/job_json.h"
#include "store/database.h"
#include "store/encoding.h"
#include "store/schema.h"

namespace fusefarm::store {
namespace {

constexpr const char* kCampaignById =
    "SELECT id, name, spec_hash, state, result, report, started_ms, ended_ms, runs"
    " FROM campaign WHERE id = ?";
constexpr const char* kCampaigns =
    "SELECT id, name, spec_hash, state, result, report, started_ms, ended_ms, runs"
    " FROM campaign ORDER BY id DESC";

CampaignRow campaign_row(const Statement& row) {
  CampaignRow out;
  out.id = id_of<CampaignTag>(row.integer(0));
  out.name = row.text(1);
  out.spec_hash = row.digest(2);
  out.state = campaign_state_from(row.text(3)).value_or(CampaignState::kFailed);
  out.result = row.text(4);
  out.report = row.text(5);
  out.started_ms = row.integer(6);
  out.ended_ms = row.integer(7);
  out.runs = static_cast<int>(row.integer(8));
  return out;
}

bool has_content(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && info.st_size > 0;
}

// One text of one row, or nothing.
Result<std::optional<std::string>> text_of(Statement statement) {
  if (!TRY(statement.step())) {
    return std::optional<std::string>();
  }
  return std::optional<std::string>(statement.text(0));
}

Result<std::unique_ptr<Database>> open_checked(const std::string& path, Database::Mode mode) {
  std::unique_ptr<Database> database = TRY(Database::open(path, mode));
  TRY(check_identity(*database, schema_version()));
  return database;
}

}  // namespace

std::string sqlite_version() { return sqlite3_libversion(); }

History::History(Key /*key*/, std::unique_ptr<Database> database)
    : database_(std::move(database)) {}

History::~History() = default;

Result<std::unique_ptr<History>> History::open(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) {
    return Error{ErrorCode::kNotFound,
                 "there is no history database " + path +
                     "; a run makes it at its store.path, which --store names"};
  }
  Result<std::unique_ptr<Database>> database = open_checked(path, Database::Mode::kReadOnly);
  if (!database.ok() && database.error().code == ErrorCode::kInvalidArgument &&
      !has_content(path + "-wal")) {
    // A folder where SQLite may not put its shared-memory file: then nobody writes there either.
    database = open_checked(path, Database::Mode::kImmutable);
  }
  if (!database.ok()) {
    return database.error();
  }
  const std::int64_t version = TRY((*database)->integer("PRAGMA user_version"));
  if (version < schema_version()) {
    return Error{ErrorCode::kUnsupported, "history database " + path + " is of the older version " +
                                              std::to_string(version) +
                                              "; a run with it brings it up to date"};
  }
  return std::make_unique<History>(Key{}, database.take());
}

Result<std::vector<CampaignRow>> History::campaigns() const {
  Statement select = TRY(database_->prepare(kCampaigns));
  std::vector<CampaignRow> out;
  while (TRY(select.step())) {
    out.push_back(campaign_row(select));
  }
  return out;
}

Result<std::optional<CampaignRow>> History::campaign(CampaignId id) const {
  Statement select = TRY(database_->prepare(kCampaignById));
  select.bind(number_of(id.value));
  if (!TRY(select.step())) {
    return std::optional<CampaignRow>();
  }
  return std::optional<CampaignRow>(campaign_row(select));
}

Result<std::optional<CampaignRow>> History::campaign_of(const std::string& name,
                                                        const Digest& spec_hash) const {
  std::int64_t id = 0;
  {
    Statement select =
        TRY(database_->prepare("SELECT id FROM campaign WHERE name = ? AND spec_hash = ?"));
    select.bind(name).bind(spec_hash);
    if (!TRY(select.step())) {
      return std::optional<CampaignRow>();
    }
    id = select.integer(0);
  }
  return campaign(id_of<CampaignTag>(id));
}

Result<std::optional<CampaignSpec>> History::campaign_spec(CampaignId id) const {
  Statement select = TRY(database_->prepare("SELECT spec FROM campaign WHERE id = ?"));
  select.bind(number_of(id.value));
  const std::optional<std::string> text = TRY(text_of(std::move(select)));
  if (!text) {
    return std::optional<CampaignSpec>();
  }
  Result<CampaignSpec> spec = campaign_spec_from_json(*text);
  if (!spec.ok()) {
    return damaged_row(*database_, "campaign", spec.error());
  }
  return std::optional<CampaignSpec>(spec.take());
}

Result<std::optional<ProfileResult>> History::profile(CampaignId id) const {
  Statement select = TRY(database_->prepare("SELECT profile FROM campaign WHERE id = ?"));
  select.bind(number_of(id.value));
  const std::optional<std::string> text = TRY(text_of(std::move(select)));
  if (!text || text->empty()) {
    return std::optional<ProfileResult>();
  }
  Result<ProfileResult> profile = profile_result_from_json(*text);
  if (!profile.ok()) {
    return damaged_row(*database_, "profile", profile.error());
  }
  return std::optional<ProfileResult>(profile.take());
}

Result<Counters> History::counters(CampaignId id) const {
  Statement select = TRY(database_->prepare(
      "SELECT state, count(*) FROM experiment WHERE campaign = ? GROUP BY state"));
  select.bind(number_of(id.value));
  Counters out;
  while (TRY(select.step())) {
    const std::int64_t count = select.integer(1);
    switch (experiment_state_from(select.text(0)).value_or(ExperimentState::kStarted)) {
      case ExperimentState::kDone:
        out.executed = count;
        break;
      case ExperimentState::kReused:
        out.reused = count;
        break;
      case ExperimentState::kAbandoned:
        out.abandoned = count;
        break;
      case ExperimentState::kStarted:
        break;
    }
  }
  out.total = out.executed + out.reused;
  return out;
}

Result<std::optional<Candidate>> History::candidate(const Digest& digest) const {
  Statement select = TRY(database_->prepare("SELECT content FROM candidate WHERE digest = ?"));
  select.bind(digest);
  const std::optional<std::string> text = TRY(text_of(std::move(select)));
  if (!text) {
    return std::optional<Candidate>();
  }
  Result<Candidate> candidate = candidate_from_json(*text);
  if (candidate.ok() && candidate->digest() != digest) {
    candidate = Error{ErrorCode::kIntegrity, "its content is of " + candidate->digest().hex()};
  }
  if (!candidate.ok()) {
    return damaged_row(*database_, "candidate " + digest.hex(), candidate.error());
  }
  return std::optional<Candidate>(candidate.take());
}

Result<std::optional<std::string>> History::region_json(const Digest& signature) const {
  Statement select = TRY(database_->prepare(
      "SELECT ir FROM region WHERE signature = ? ORDER BY signature_version DESC LIMIT 1"));
  select.bind(signature);
  return text_of(std::move(select));
}

Result<std::vector<RewriteRow>> History::rewrites(CampaignId id) const {
  Statement select = TRY(database_->prepare(
      "SELECT id, campaign, phase, region, contains, workload, candidate, confirmation, graph_from,"
      " graph_to, state, integration, provenance FROM rewrite WHERE campaign = ? ORDER BY id"));
  select.bind(number_of(id.value));
  std::vector<RewriteRow> out;
  while (TRY(select.step())) {
    RewriteRow& row = out.emplace_back();
    row.id = id_of<RewriteTag>(select.integer(0));
    row.campaign = id_of<CampaignTag>(select.integer(1));
    row.phase = static_cast<int>(select.integer(2));
    row.region = select.digest(3);
    row.contains = TRY(texts_from_json(select.text(4)));
    row.workload = select.text(5);
    row.candidate = select.digest(6);
    row.confirmation = id_of<ExperimentTag>(select.integer(7));
    row.graph_from = select.digest(8);
    row.graph_to = select.digest(9);
    row.state = rewrite_state_from(select.text(10)).value_or(RewriteState::kRolledBack);
    row.integration = select.text(11);
    row.provenance = select.text(12);
  }
  return out;
}

Result<std::vector<GraphVersionRow>> History::graph_versions(CampaignId id) const {
  Statement select = TRY(database_->prepare(
      "SELECT campaign, hash, version, parent, provenance FROM graph_version WHERE campaign = ?"
      " ORDER BY rowid"));
  select.bind(number_of(id.value));
  std::vector<GraphVersionRow> out;
  while (TRY(select.step())) {
    GraphVersionRow& row = out.emplace_back();
    row.campaign = id_of<CampaignTag>(select.integer(0));
    row.hash = select.digest(1);
    row.version = static_cast<std::int32_t>(select.integer(2));
    if (!select.is_null(3)) {
      row.parent = select.digest(3);
    }
    row.provenance = select.text(4);
  }
  return out;
}

Result<std::optional<graph::Graph>> History::graph_version(CampaignId id,
                                                           const Digest& hash) const {
  Statement select =
      TRY(database_->prepare("SELECT graph FROM graph_version WHERE campaign = ? AND hash = ?"));
  select.bind(number_of(id.value)).bind(hash);
  const std::optional<std::string> text = TRY(text_of(std::move(select)));
  if (!text) {
    return std::optional<graph::Graph>();
  }
  Result<graph::Graph> graph = graph::graph_from_json(*text);
  if (!graph.ok()) {
    return damaged_row(*database_, "graph " + hash.hex(), graph.error());
  }
  return std::optional<graph::Graph>(graph.take());
}

Result<std::vector<Decision>> History::decisions(CampaignId id) const {
  Statement select = TRY(database_->prepare(
      "SELECT sequence, kind, payload FROM decision WHERE campaign = ? ORDER BY sequence"));
  select.bind(number_of(id.value));
  std::vector<Decision> out;
  while (TRY(select.step())) {
    out.push_back({select.integer(0), select.text(1), select.text(2)});
  }
  return out;
}

}  // namespace fusefarm::store
