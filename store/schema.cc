#include "store/schema.h"

#include <array>

#include <unistd.h>

#include "base/log.h"

namespace fusefarm::store {
namespace {

constexpr const char* kVersion1 = R"sql(
CREATE TABLE meta(
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES('store_uid', lower(hex(randomblob(16)))), ('clean_stop', '1');

CREATE TABLE campaign(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  spec_hash BLOB NOT NULL,
  spec TEXT NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('running','interrupted','finished','failed')),
  result TEXT NOT NULL DEFAULT '',
  report TEXT NOT NULL DEFAULT '',
  profile TEXT NOT NULL DEFAULT '',
  started_ms INTEGER NOT NULL,
  ended_ms INTEGER NOT NULL DEFAULT 0,
  runs INTEGER NOT NULL DEFAULT 1,
  UNIQUE(name, spec_hash)
) STRICT;

CREATE TABLE graph_version(
  campaign INTEGER NOT NULL REFERENCES campaign(id),
  hash BLOB NOT NULL,
  version INTEGER NOT NULL,
  parent BLOB,
  graph TEXT NOT NULL,
  provenance TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  PRIMARY KEY(campaign, hash)
) STRICT;

CREATE TABLE region(
  signature BLOB NOT NULL,
  signature_version INTEGER NOT NULL,
  ir TEXT NOT NULL,
  pattern TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  PRIMARY KEY(signature, signature_version)
) STRICT;

CREATE TABLE candidate(
  digest BLOB PRIMARY KEY,
  region BLOB NOT NULL,
  origin TEXT NOT NULL,
  family TEXT NOT NULL,
  content TEXT NOT NULL,
  created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX candidate_by_region ON candidate(region);

CREATE TABLE experiment(
  id INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL REFERENCES campaign(id),
  phase INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK(kind IN ('profile','screen','confirm','integration','end_to_end')),
  state TEXT NOT NULL CHECK(state IN ('started','done','reused','abandoned')),
  region BLOB NOT NULL,
  workload TEXT NOT NULL,
  shape TEXT NOT NULL,
  candidate BLOB NOT NULL,
  incumbent BLOB NOT NULL,
  device_class TEXT NOT NULL,
  toolchain TEXT NOT NULL,
  protocol TEXT NOT NULL,
  source INTEGER REFERENCES experiment(id),
  verdict TEXT NOT NULL DEFAULT '',
  reason TEXT NOT NULL DEFAULT '',
  detail TEXT NOT NULL DEFAULT '',
  rule_version INTEGER NOT NULL DEFAULT 0,
  causal_label TEXT NOT NULL DEFAULT '',
  infrastructure INTEGER NOT NULL DEFAULT 0,
  screen_estimate REAL, screen_lo REAL, screen_hi REAL,
  confirm_estimate REAL, confirm_lo REAL, confirm_hi REAL,
  result TEXT NOT NULL DEFAULT '',
  started_ms INTEGER NOT NULL,
  ended_ms INTEGER NOT NULL DEFAULT 0,
  CHECK((state = 'reused') = (source IS NOT NULL))
) STRICT;
CREATE INDEX experiment_by_campaign ON experiment(campaign, id);
CREATE INDEX experiment_by_key ON experiment(candidate, incumbent, kind) WHERE state = 'done';
CREATE UNIQUE INDEX one_reuse ON experiment(campaign, source) WHERE state = 'reused';

CREATE TABLE measurement(
  experiment INTEGER NOT NULL REFERENCES experiment(id),
  ordinal INTEGER NOT NULL,
  stage TEXT NOT NULL,
  workload TEXT NOT NULL,
  samples BLOB NOT NULL,
  PRIMARY KEY(experiment, ordinal)
) STRICT;

CREATE TABLE rewrite(
  id INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL REFERENCES campaign(id),
  phase INTEGER NOT NULL,
  region BLOB NOT NULL,
  contains TEXT NOT NULL,
  workload TEXT NOT NULL,
  candidate BLOB NOT NULL REFERENCES candidate(digest),
  confirmation INTEGER REFERENCES experiment(id),
  graph_from BLOB NOT NULL,
  graph_to BLOB NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('proposed','committed','rolled_back')),
  integration TEXT NOT NULL DEFAULT '',
  provenance TEXT NOT NULL,
  proposed_ms INTEGER NOT NULL,
  decided_ms INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX rewrite_by_campaign ON rewrite(campaign, id);

CREATE TABLE decision(
  campaign INTEGER NOT NULL REFERENCES campaign(id),
  sequence INTEGER NOT NULL,
  kind TEXT NOT NULL,
  payload TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  PRIMARY KEY(campaign, sequence)
) STRICT;

CREATE TABLE event(
  id INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL REFERENCES campaign(id),
  ms INTEGER NOT NULL,
  kind TEXT NOT NULL,
  payload TEXT NOT NULL
) STRICT;

CREATE VIEW v_experiment AS
SELECT e.id, e.campaign AS campaign_id, c.name AS campaign, e.phase, e.kind, e.state,
       lower(hex(e.region)) AS region, e.workload, e.shape,
       lower(hex(e.candidate)) AS candidate, lower(hex(e.incumbent)) AS incumbent,
       coalesce(k.family, '') AS family, coalesce(k.origin, '') AS origin,
       e.device_class, e.toolchain, e.protocol, e.source, e.started_ms, e.ended_ms
FROM experiment e JOIN campaign c ON c.id = e.campaign
LEFT JOIN candidate k ON k.digest = e.candidate;

CREATE VIEW v_verdict AS
SELECT e.id AS experiment, e.campaign AS campaign_id, e.verdict, e.reason, e.detail,
       e.rule_version, e.causal_label,
       e.screen_estimate, e.screen_lo, e.screen_hi,
       e.confirm_estimate, e.confirm_lo, e.confirm_hi
FROM experiment e WHERE e.state = 'done';

CREATE VIEW v_rewrite AS
SELECT r.id, r.campaign AS campaign_id, c.name AS campaign, r.phase,
       lower(hex(r.region)) AS region, r.contains, r.workload,
       lower(hex(r.candidate)) AS candidate, r.confirmation,
       lower(hex(r.graph_from)) AS graph_from, lower(hex(r.graph_to)) AS graph_to,
       r.state, r.proposed_ms, r.decided_ms
FROM rewrite r JOIN campaign c ON c.id = r.campaign;
)sql";

constexpr std::array<Migration, 1> kMigrations{{{"first version", kVersion1}}};

Result<void> back_up(Database& database, std::int64_t version) {
  const std::string copy = database.path() + ".v" + std::to_string(version) + ".bak";
  // A copy of an earlier attempt is of the same version; the file is unchanged since, or newer.
  ::unlink(copy.c_str());
  std::string quoted;
  for (const char c : copy) {
    quoted += c == '\'' ? std::string("''") : std::string(1, c);
  }
  const Result<void> copied = database.execute("VACUUM INTO '" + quoted + "'");
  if (!copied.ok()) {
    return copied.error().with_context("backup to " + copy + " before migration");
  }
  return {};
}

Result<void> apply(Database& database, const Migration& step, std::int64_t version) {
  Transaction transaction = TRY(Transaction::begin(database));
  TRY(database.execute(step.sql));
  TRY(database.execute("PRAGMA application_id = " + std::to_string(kApplicationId)));
  TRY(database.execute("PRAGMA user_version = " + std::to_string(version)));
  return transaction.commit();
}

}  // namespace

std::span<const Migration> migrations() { return kMigrations; }

Result<void> check_identity(Database& database, std::int64_t version_max) {
  const std::int64_t application = TRY(database.integer("PRAGMA application_id"));
  const std::int64_t version = TRY(database.integer("PRAGMA user_version"));
  const std::int64_t tables = TRY(database.integer("SELECT count(*) FROM sqlite_master"));
  const std::string what = "history database " + database.path();
  if (application != kApplicationId && (tables != 0 || application != 0 || version != 0)) {
    return Error{ErrorCode::kIntegrity,
                 what + " is an SQLite database of another program; choose another store.path"};
  }
  if (version > version_max) {
    return Error{ErrorCode::kIntegrity, what + " is newer (version " + std::to_string(version) +
                                            ") than this program reads (" +
                                            std::to_string(version_max) +
                                            "); use the newer fusefarm, or another store.path"};
  }
  return {};
}

Result<void> migrate(Database& database, std::span<const Migration> steps) {
  const auto last = static_cast<std::int64_t>(steps.size());
  TRY(check_identity(database, last));
  const std::int64_t version = TRY(database.integer("PRAGMA user_version"));
  if (version > 0 && version < last) {
    TRY(back_up(database, version));
  }
  for (std::int64_t next = version + 1; next <= last; ++next) {
    const Migration& step = steps[static_cast<std::size_t>(next - 1)];
    TRY(apply(database, step, next));
    logger("store").info("migrated path={} version={} what=\"{}\"", database.path(), next,
                         step.what);
  }
  return {};
}

}  // namespace fusefarm::store
