#include "store/writes.h"

#include "graph/region.h"
#include "records/candidate_json.h"
#include "store/encoding.h"

namespace fusefarm::store {
namespace {

std::string json_or_empty_object(const std::string& json) {
  if (json.empty()) {
    return "{}";
  }
  check_json(json, "payload or provenance");
  return json;
}

}  // namespace

Writer::Write insert_campaign(CampaignId id, const std::string& name, const Digest& spec_hash,
                              std::string spec_json, std::int64_t now_ms) {
  return [=, spec = std::move(spec_json)](Database& database) -> Result<void> {
    return TRY(database.prepare("INSERT INTO campaign(id, name, spec_hash, spec, state, started_ms)"
                                " VALUES(?,?,?,?,'running',?)"))
        .bind(number_of(id.value))
        .bind(name)
        .bind(spec_hash)
        .bind(spec)
        .bind(now_ms)
        .run();
  };
}

Writer::Write take_up_campaign(CampaignId id, std::int64_t now_ms) {
  return [=](Database& database) -> Result<void> {
    TRY(TRY(database.prepare("UPDATE campaign SET state = 'running', runs = runs + 1, ended_ms = 0"
                             " WHERE id = ?"))
            .bind(number_of(id.value))
            .run());
    return TRY(database.prepare("UPDATE experiment SET state = 'abandoned', ended_ms = ?,"
                                " reason = 'its process ended' WHERE campaign = ?"
                                " AND state = 'started'"))
        .bind(now_ms)
        .bind(number_of(id.value))
        .run();
  };
}

Writer::Write update_campaign_end(CampaignId id, CampaignState state, std::string result,
                                  std::string report, std::int64_t now_ms) {
  if (!report.empty()) {
    check_json(report, "report");
  }
  return [=](Database& database) -> Result<void> {
    return TRY(database.prepare("UPDATE campaign SET state = ?, result = ?, report = ?,"
                                " ended_ms = ? WHERE id = ?"))
        .bind(to_string(state))
        .bind(result)
        .bind(report)
        .bind(now_ms)
        .bind(number_of(id.value))
        .run();
  };
}

Writer::Write update_profile(CampaignId id, std::string profile_json) {
  return [=](Database& database) -> Result<void> {
    return TRY(database.prepare("UPDATE campaign SET profile = ? WHERE id = ?"))
        .bind(profile_json)
        .bind(number_of(id.value))
        .run();
  };
}

Writer::Write insert_graph_version(const GraphVersionRow& row, std::string graph_json,
                                   std::int64_t now_ms) {
  return [row, graph_json, provenance = json_or_empty_object(row.provenance),
          now_ms](Database& database) -> Result<void> {
    Statement insert = TRY(database.prepare(
        "INSERT INTO graph_version(campaign, hash, version, parent, graph, provenance, created_ms)"
        " VALUES(?,?,?,?,?,?,?) ON CONFLICT(campaign, hash) DO NOTHING"));
    insert.bind(number_of(row.campaign.value)).bind(row.hash).bind(std::int64_t{row.version});
    if (row.parent) {
      insert.bind(*row.parent);
    } else {
      insert.bind_null();
    }
    return insert.bind(graph_json).bind(provenance).bind(now_ms).run();
  };
}

Writer::Write insert_region(const Digest& signature, std::string ir, std::string pattern,
                            std::int64_t now_ms) {
  return [=](Database& database) -> Result<void> {
    return TRY(database.prepare(
                   "INSERT INTO region(signature, signature_version, ir, pattern, created_ms)"
                   " VALUES(?,?,?,?,?) ON CONFLICT DO NOTHING"))
        .bind(signature)
        .bind(std::int64_t{graph::kSignatureVersion})
        .bind(ir)
        .bind(pattern)
        .bind(now_ms)
        .run();
  };
}

Writer::Write insert_candidate(const Candidate& candidate, std::int64_t now_ms) {
  return [digest = candidate.digest(), content = to_json(candidate), region = candidate.region,
          origin = candidate.origin, family = candidate.family,
          now_ms](Database& database) -> Result<void> {
    return TRY(database.prepare(
                   "INSERT INTO candidate(digest, region, origin, family, content, created_ms)"
                   " VALUES(?,?,?,?,?,?) ON CONFLICT DO NOTHING"))
        .bind(digest)
        .bind(region)
        .bind(origin)
        .bind(family)
        .bind(content)
        .bind(now_ms)
        .run();
  };
}

Writer::Write insert_rewrite(const RewriteRow& row, std::int64_t now_ms) {
  return [row, provenance = json_or_empty_object(row.provenance),
          now_ms](Database& database) -> Result<void> {
    Statement insert = TRY(database.prepare(
        "INSERT INTO rewrite(id, campaign, phase, region, contains, workload, candidate,"
        " confirmation, graph_from, graph_to, state, provenance, proposed_ms)"
        " VALUES(?,?,?,?,?,?,?,?,?,?,'proposed',?,?)"));
    insert.bind(number_of(row.id.value))
        .bind(number_of(row.campaign.value))
        .bind(std::int64_t{row.phase})
        .bind(row.region)
        .bind(texts_to_json(row.contains))
        .bind(row.workload)
        .bind(row.candidate);
    if (row.confirmation) {
      insert.bind(number_of(row.confirmation.value));
    } else {
      insert.bind_null();
    }
    return insert.bind(row.graph_from).bind(row.graph_to).bind(provenance).bind(now_ms).run();
  };
}

Writer::Write update_rewrites(std::vector<RewriteId> ids, RewriteState state,
                              std::string integration_json, std::int64_t now_ms) {
  return [=](Database& database) -> Result<void> {
    for (const RewriteId id : ids) {
      TRY(TRY(database.prepare(
                  "UPDATE rewrite SET state = ?, integration = ?, decided_ms = ? WHERE id = ?"))
              .bind(to_string(state))
              .bind(integration_json)
              .bind(now_ms)
              .bind(number_of(id.value))
              .run());
    }
    return {};
  };
}

Writer::Write insert_decision(CampaignId id, Decision decision, std::int64_t now_ms) {
  check_json(decision.payload, "decision");
  return [=](Database& database) -> Result<void> {
    {
      Statement select = TRY(database.prepare(
          "SELECT kind, payload FROM decision WHERE campaign = ? AND sequence = ?"));
      select.bind(number_of(id.value)).bind(decision.sequence);
      if (TRY(select.step())) {
        if (select.text(0) == decision.kind && select.text(1) == decision.payload) {
          return {};
        }
        return Error{ErrorCode::kIntegrity, "history database " + database.path() + ": decision " +
                                                std::to_string(decision.sequence) +
                                                " of campaign " + std::to_string(id.value) +
                                                " was " + select.text(0) + " and would become " +
                                                decision.kind + "; the run can't be continued"};
      }
    }
    return TRY(database.prepare("INSERT INTO decision(campaign, sequence, kind, payload,"
                                " created_ms) VALUES(?,?,?,?,?)"))
        .bind(number_of(id.value))
        .bind(decision.sequence)
        .bind(decision.kind)
        .bind(decision.payload)
        .bind(now_ms)
        .run();
  };
}

Writer::Write insert_event(CampaignId id, std::string kind, std::string payload,
                           std::int64_t now_ms) {
  payload = json_or_empty_object(payload);
  return [=](Database& database) -> Result<void> {
    return TRY(database.prepare("INSERT INTO event(campaign, ms, kind, payload) VALUES(?,?,?,?)"))
        .bind(number_of(id.value))
        .bind(now_ms)
        .bind(kind)
        .bind(payload)
        .run();
  };
}

}  // namespace fusefarm::store
