-- A store of version 1, as its tools wrote it; never changed.
PRAGMA application_id = 1179012401;
PRAGMA user_version = 1;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE meta(
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES('clean_stop','0');
INSERT INTO meta VALUES('store_uid','5c21947d222ee2e61799c1db838513e9');
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
INSERT INTO campaign VALUES(1,'c',X'2682c826cae74c92c0620c9ab73c7e577a37870b4ce42465a4e63b58ee4d2408','{"device":"cpu","dtype":"bf16","gate":{"false_accept":0.001,"min_gain":0.01},"layers":0,"model_config":"","name":"c","output_folder":"","sandbox_degraded_ok":false,"search":{"budget_seconds":0.0,"phases":2,"plans_per_round":8,"proposers":["builtin"],"region_nodes_max":5,"regions_per_phase":8,"rounds_max":2,"seed":1},"store_path":"","tensor_parallel":1,"threads":0,"version":1,"workloads":[{"batch":8,"context":256,"name":"decode-8","phase":"decode","tokens":8,"weight":1.0}]}','running','','','',1796066941555,0,1);
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
INSERT INTO candidate VALUES(X'd7c51f23b6eb00d57767429c6fcb6f470e258013505bfd519e08dc74994ca322',X'69197ade25e115c6376b1f361f2ef14a56d76466c1e34f053077f2b1a5aedff9','builtin','rowwise','{"deterministic":true,"family":"rowwise","flags":[],"origin":"builtin","plan":{"buffers":[],"steps":[],"version":1},"region":"69197ade25e115c6376b1f361f2ef14a56d76466c1e34f053077f2b1a5aedff9","schedule":{},"source":"// 0","source_kind":"cpp","version":1}',1796066941557);
INSERT INTO candidate VALUES(X'cc83d5b92a48573cf1cc80f390a23db77f2e7a1171c8ae1383367627f8ccada4',X'69197ade25e115c6376b1f361f2ef14a56d76466c1e34f053077f2b1a5aedff9','builtin','rowwise','{"deterministic":true,"family":"rowwise","flags":[],"origin":"builtin","plan":{"buffers":[],"steps":[],"version":1},"region":"69197ade25e115c6376b1f361f2ef14a56d76466c1e34f053077f2b1a5aedff9","schedule":{},"source":"// 1","source_kind":"cpp","version":1}',1796066941561);
INSERT INTO candidate VALUES(X'1d25316a982b19ef148334c63ae4cbd098f92a982d37b9535878dd2217a7138b',X'69197ade25e115c6376b1f361f2ef14a56d76466c1e34f053077f2b1a5aedff9','builtin','rowwise','{"deterministic":true,"family":"rowwise","flags":[],"origin":"builtin","plan":{"buffers":[],"steps":[],"version":1},"region":"69197ade25e115c6376b1f361f2ef14a56d76466c1e34f053077f2b1a5aedff9","schedule":{},"source":"// 2","source_kind":"cpp","version":1}',1796066941565);
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
INSERT INTO experiment VALUES(1,1,1,'screen','done',X'69197ade25e115c6376b1f361f2ef14a56d76466c1e34f053077f2b1a5aedff9','decode-8','decode b8 c256 t8',X'd7c51f23b6eb00d57767429c6fcb6f470e258013505bfd519e08dc74994ca322',X'0000000000000000000000000000000000000000000000000000000000000000','cpu:x:2','g++ 12','gate 1',NULL,'NO_GAIN','r','d',1,'INEFFECTIVE',0,0.10000000000000000555,0.050000000000000002775,0.14999999999999999444,NULL,NULL,NULL,'{"candidate":"d7c51f23b6eb00d57767429c6fcb6f470e258013505bfd519e08dc74994ca322","causal_label":"INEFFECTIVE","compile_seconds":0.0,"confirmation":null,"correctness":[],"device_class":"cpu:x:2","device_seconds":0.0,"experiment":0,"family":"rowwise","incumbent":"0000000000000000000000000000000000000000000000000000000000000000","isolation":"","measurements":[],"prepare_seconds":0.0,"prepared_bytes":0,"region":"69197ade25e115c6376b1f361f2ef14a56d76466c1e34f053077f2b1a5aedff9","screen":{"estimate":0.1,"hi":0.15,"lo":0.05},"toolchain":"","verdict":{"class":"NO_GAIN","detail":"d","reason":"r","rule_version":1},"version":1,"workload":"decode-8"}',1796066941557,1796066941557);
INSERT INTO experiment VALUES(2,1,1,'screen','done',X'69197ade25e115c6376b1f361f2ef14a56d76466c1e34f053077f2b1a5aedff9','decode-8','decode b8 c256 t8',X'cc83d5b92a48573cf1cc80f390a23db77f2e7a1171c8ae1383367627f8ccada4',X'0000000000000000000000000000000000000000000000000000000000000000','cpu:x:2','g++ 12','gate 1',NULL,'NO_GAIN','r','d',1,'INEFFECTIVE',0,0.10000000000000000555,0.050000000000000002775,0.14999999999999999444,NULL,NULL,NULL,'{"candidate":"cc83d5b92a48573cf1cc80f390a23db77f2e7a1171c8ae1383367627f8ccada4","causal_label":"INEFFECTIVE","compile_seconds":0.0,"confirmation":null,"correctness":[],"device_class":"cpu:x:2","device_seconds":0.0,"experiment":0,"family":"rowwise","incumbent":"0000000000000000000000000000000000000000000000000000000000000000","isolation":"","measurements":[],"prepare_seconds":0.0,"prepared_bytes":0,"region":"69197ade25e115c6376b1f361f2ef14a56d76466c1e34f053077f2b1a5aedff9","screen":{"estimate":0.1,"hi":0.15,"lo":0.05},"toolchain":"","verdict":{"class":"NO_GAIN","detail":"d","reason":"r","rule_version":1},"version":1,"workload":"decode-8"}',1796066941561,1796066941561);
INSERT INTO experiment VALUES(3,1,1,'screen','done',X'69197ade25e115c6376b1f361f2ef14a56d76466c1e34f053077f2b1a5aedff9','decode-8','decode b8 c256 t8',X'1d25316a982b19ef148334c63ae4cbd098f92a982d37b9535878dd2217a7138b',X'0000000000000000000000000000000000000000000000000000000000000000','cpu:x:2','g++ 12','gate 1',NULL,'NO_GAIN','r','d',1,'INEFFECTIVE',0,0.10000000000000000555,0.050000000000000002775,0.14999999999999999444,NULL,NULL,NULL,'{"candidate":"1d25316a982b19ef148334c63ae4cbd098f92a982d37b9535878dd2217a7138b","causal_label":"INEFFECTIVE","compile_seconds":0.0,"confirmation":null,"correctness":[],"device_class":"cpu:x:2","device_seconds":0.0,"experiment":0,"family":"rowwise","incumbent":"0000000000000000000000000000000000000000000000000000000000000000","isolation":"","measurements":[],"prepare_seconds":0.0,"prepared_bytes":0,"region":"69197ade25e115c6376b1f361f2ef14a56d76466c1e34f053077f2b1a5aedff9","screen":{"estimate":0.1,"hi":0.15,"lo":0.05},"toolchain":"","verdict":{"class":"NO_GAIN","detail":"d","reason":"r","rule_version":1},"version":1,"workload":"decode-8"}',1796066941565,1796066941565);
CREATE TABLE measurement(
  experiment INTEGER NOT NULL REFERENCES experiment(id),
  ordinal INTEGER NOT NULL,
  stage TEXT NOT NULL,
  workload TEXT NOT NULL,
  samples BLOB NOT NULL,
  PRIMARY KEY(experiment, ordinal)
) STRICT;
INSERT INTO measurement VALUES(1,0,'screen','decode-8',X'01020000000102000000060800000040420f000800000041420f000800000042420f000800000043420f00060800000040420f000800000041420f000800000042420f000800000043420f000001000000360800000000000000000100000800000041420f00000000000800000042420f00000000000800000043420f00000000000800636f74656e616e74');
INSERT INTO measurement VALUES(1,1,'confirm','decode-8',X'01020000000102000000060800000040420f000800000041420f000800000042420f000800000043420f00060800000040420f000800000041420f000800000042420f000800000043420f000001000000360800000000000000000100000800000041420f00000000000800000042420f00000000000800000043420f00000000000800636f74656e616e74');
INSERT INTO measurement VALUES(2,0,'screen','decode-8',X'01020000000102000000060800000040420f000800000041420f000800000042420f000800000043420f00060800000040420f000800000041420f000800000042420f000800000043420f000001000000360800000000000000000100000800000041420f00000000000800000042420f00000000000800000043420f00000000000800636f74656e616e74');
INSERT INTO measurement VALUES(2,1,'confirm','decode-8',X'01020000000102000000060800000040420f000800000041420f000800000042420f000800000043420f00060800000040420f000800000041420f000800000042420f000800000043420f000001000000360800000000000000000100000800000041420f00000000000800000042420f00000000000800000043420f00000000000800636f74656e616e74');
INSERT INTO measurement VALUES(3,0,'screen','decode-8',X'01020000000102000000060800000040420f000800000041420f000800000042420f000800000043420f00060800000040420f000800000041420f000800000042420f000800000043420f000001000000360800000000000000000100000800000041420f00000000000800000042420f00000000000800000043420f00000000000800636f74656e616e74');
INSERT INTO measurement VALUES(3,1,'confirm','decode-8',X'01020000000102000000060800000040420f000800000041420f000800000042420f000800000043420f00060800000040420f000800000041420f000800000042420f000800000043420f000001000000360800000000000000000100000800000041420f00000000000800000042420f00000000000800000043420f00000000000800636f74656e616e74');
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
CREATE TABLE decision(
  campaign INTEGER NOT NULL REFERENCES campaign(id),
  sequence INTEGER NOT NULL,
  kind TEXT NOT NULL,
  payload TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  PRIMARY KEY(campaign, sequence)
) STRICT;
INSERT INTO decision VALUES(1,0,'select','{}',1796066941557);
INSERT INTO decision VALUES(1,1,'select','{}',1796066941561);
INSERT INTO decision VALUES(1,2,'select','{}',1796066941565);
CREATE TABLE event(
  id INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL REFERENCES campaign(id),
  ms INTEGER NOT NULL,
  kind TEXT NOT NULL,
  payload TEXT NOT NULL
) STRICT;
CREATE INDEX candidate_by_region ON candidate(region);
CREATE INDEX experiment_by_campaign ON experiment(campaign, id);
CREATE INDEX experiment_by_key ON experiment(candidate, incumbent, kind) WHERE state = 'done';
CREATE UNIQUE INDEX one_reuse ON experiment(campaign, source) WHERE state = 'reused';
CREATE INDEX rewrite_by_campaign ON rewrite(campaign, id);
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
COMMIT;
