BEGIN TRANSACTION;
CREATE TABLE contracts (
	contract VARCHAR(300) NOT NULL, 
	population VARCHAR(300) NOT NULL, 
	PRIMARY KEY (contract), 
	FOREIGN KEY(population) REFERENCES populations (population)
);
INSERT INTO "contracts" VALUES('census','us-cps');
INSERT INTO "contracts" VALUES('other','us-cps');
CREATE TABLE entries (
	number INTEGER NOT NULL, 
	release_id VARCHAR(300) NOT NULL, 
	policy_digest TEXT NOT NULL, 
	population VARCHAR(300) NOT NULL, 
	epsilon TEXT NOT NULL, 
	delta TEXT NOT NULL, 
	state VARCHAR(20) NOT NULL, 
	reading BOOLEAN NOT NULL, 
	manifest_digest TEXT, 
	destination TEXT, 
	private_commitment TEXT, 
	sample VARCHAR(300), 
	PRIMARY KEY (number), 
	FOREIGN KEY(population) REFERENCES populations (population)
);
INSERT INTO "entries" VALUES(1,'a/1/2030-01-01','digest-a/1','us-cps','1/1','1/1000000000','published',1,'sha256:ab','releases/a/1/2030-01-01','salted',NULL);
INSERT INTO "entries" VALUES(2,'a/1/2030-01-02','digest-a/1','us-cps','1/1','1/1000000000','void',0,NULL,NULL,NULL,NULL);
INSERT INTO "entries" VALUES(3,'a/2/2030-01-03','digest-a/2','us-cps','1/1','1/1000000000','reserved',0,NULL,NULL,NULL,NULL);
INSERT INTO "entries" VALUES(4,'b/1/2030-01-01','digest-b/1','us-cps','1/3','0/1','reserved',0,NULL,NULL,'x',NULL);
CREATE TABLE journal (
	number INTEGER NOT NULL, 
	event TEXT NOT NULL, 
	subject TEXT NOT NULL, 
	commitment TEXT, 
	detail TEXT, 
	digest TEXT NOT NULL, 
	PRIMARY KEY (number)
);
INSERT INTO "journal" VALUES(1,'ledger.created','old-a3fac6d5',NULL,'{"row":{"format":1,"id":"old-a3fac6d5"},"table":"ledger"}','b6470eca46ef436f3ae6a6545b486ebe9e5a1fa395f2c67eac7c95f8508ee438');
INSERT INTO "journal" VALUES(2,'budget.registered','us-cps',NULL,'{"row":{"delta":"1/100000000","epsilon":"4/1","people":300000,"population":"us-cps","relation":"add-remove","unit":"row"},"table":"populations"}','28a7520a378c089845ce8e7cc249cf397baaa99efe0c78c476994cc964bbc91c');
INSERT INTO "journal" VALUES(3,'contract.bound','census',NULL,'{"row":{"contract":"census","population":"us-cps"},"table":"contracts"}','9899c4d3ae6959131ef1d3496cf98da464c6a47d901cf23f7b98b101149c8c09');
INSERT INTO "journal" VALUES(4,'entry.reserved','a/1/2030-01-01',NULL,'{"row":{"delta":"1/1000000000","destination":null,"epsilon":"1/1","manifest_digest":null,"number":1,"policy_digest":"digest-a/1","population":"us-cps","private_commitment":null,"reading":false,"release_id":"a/1/2030-01-01","sample":null,"state":"reserved"},"table":"entries"}','a1e5758f902196376b850d62ad51235f1662bff10d206e0c3b6dd0cccb6dfe07');
INSERT INTO "journal" VALUES(5,'entry.reserved','a/1/2030-01-02',NULL,'{"row":{"delta":"1/1000000000","destination":null,"epsilon":"1/1","manifest_digest":null,"number":2,"policy_digest":"digest-a/1","population":"us-cps","private_commitment":null,"reading":false,"release_id":"a/1/2030-01-02","sample":null,"state":"reserved"},"table":"entries"}','04744945ac39b49e2bf4387b35ab125e02d9c68a8ab0302687863e9ae71d77a3');
INSERT INTO "journal" VALUES(6,'contract.bound','other',NULL,'{"row":{"contract":"other","population":"us-cps"},"table":"contracts"}','89deb31fb654cfd791a4134d1de4f6399550886711097078e3a88c1bc6eb6f65');
INSERT INTO "journal" VALUES(7,'entry.reserved','a/2/2030-01-03',NULL,'{"row":{"delta":"1/1000000000","destination":null,"epsilon":"1/1","manifest_digest":null,"number":3,"policy_digest":"digest-a/2","population":"us-cps","private_commitment":null,"reading":false,"release_id":"a/2/2030-01-03","sample":null,"state":"reserved"},"table":"entries"}','3a3ceeba8d5bb33693f07dde614cea168f872e3b43a389115014ddb02e73c2a0');
INSERT INTO "journal" VALUES(8,'entry.reserved','b/1/2030-01-01',NULL,'{"row":{"delta":"0/1","destination":null,"epsilon":"1/3","manifest_digest":null,"number":4,"policy_digest":"digest-b/1","population":"us-cps","private_commitment":null,"reading":false,"release_id":"b/1/2030-01-01","sample":null,"state":"reserved"},"table":"entries"}','34190cea14568b60168be62f228ec19b31f1aab9baa4d7b77ae97bd4c1d2a0a9');
INSERT INTO "journal" VALUES(9,'entry.reading','a/1/2030-01-01',NULL,'{"row":{"delta":"1/1000000000","destination":null,"epsilon":"1/1","manifest_digest":null,"number":1,"policy_digest":"digest-a/1","population":"us-cps","private_commitment":null,"reading":true,"release_id":"a/1/2030-01-01","sample":null,"state":"reserved"},"table":"entries"}','7578db2503a2e15a2d8975ccc382b70d01bf44c12e58760d34acecfffade4859');
INSERT INTO "journal" VALUES(10,'entry.committed','a/1/2030-01-01',NULL,'{"row":{"delta":"1/1000000000","destination":"releases/a/1/2030-01-01","epsilon":"1/1","manifest_digest":"sha256:ab","number":1,"policy_digest":"digest-a/1","population":"us-cps","private_commitment":"salted","reading":true,"release_id":"a/1/2030-01-01","sample":null,"state":"committed"},"table":"entries"}','28958f7005641b3590d67188ce69bb322d23ba79153e60e24d66f0403ee401de');
INSERT INTO "journal" VALUES(11,'entry.published','a/1/2030-01-01',NULL,'{"row":{"delta":"1/1000000000","destination":"releases/a/1/2030-01-01","epsilon":"1/1","manifest_digest":"sha256:ab","number":1,"policy_digest":"digest-a/1","population":"us-cps","private_commitment":"salted","reading":true,"release_id":"a/1/2030-01-01","sample":null,"state":"published"},"table":"entries"}','80d4a5c2e4c8ad46a9d33854a41994c9efa6b6c2cf31e61ba8361d780fe070e7');
INSERT INTO "journal" VALUES(12,'entry.void','a/1/2030-01-02',NULL,'{"row":{"delta":"1/1000000000","destination":null,"epsilon":"1/1","manifest_digest":null,"number":2,"policy_digest":"digest-a/1","population":"us-cps","private_commitment":null,"reading":false,"release_id":"a/1/2030-01-02","sample":null,"state":"void"},"table":"entries"}','a1a358474ef85e0735dc9258be3854eb4ed543dd7baf6a171448d64970bef3e3');
INSERT INTO "journal" VALUES(13,'budget.raised','us-cps',NULL,'{"reason":"more people","row":{"delta":"1/100000000","epsilon":"4/1","people":400000,"population":"us-cps","relation":"add-remove","unit":"row"},"table":"populations"}','891bfe9bf664cd0f609963944ed63397cb9cd1ac53f52c964b770aedafa00040');
INSERT INTO "journal" VALUES(14,'private-record-opened','a/1/2030-01-01','salted',NULL,'e697b09d1b77c75d9fcea39ec3cae6c27360e6799b8e08549c3e9fce382b7b90');
INSERT INTO "journal" VALUES(15,'entry.private','b/1/2030-01-01','x','{"row":{"delta":"0/1","destination":null,"epsilon":"1/3","manifest_digest":null,"number":4,"policy_digest":"digest-b/1","population":"us-cps","private_commitment":"x","reading":false,"release_id":"b/1/2030-01-01","sample":null,"state":"reserved"},"table":"entries"}','11497af1f44b2e60fb0048b26336d0bd1260bc95f9ec51fbcb3a95c899441aee');
CREATE TABLE ledger (
	id VARCHAR(60) NOT NULL, 
	format INTEGER NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "ledger" VALUES('old-a3fac6d5',1);
CREATE TABLE populations (
	population VARCHAR(300) NOT NULL, 
	epsilon TEXT NOT NULL, 
	delta TEXT NOT NULL, 
	people BIGINT NOT NULL, 
	unit TEXT NOT NULL, 
	relation TEXT NOT NULL, 
	PRIMARY KEY (population)
);
INSERT INTO "populations" VALUES('us-cps','4/1','1/100000000',400000,'row','add-remove');
CREATE UNIQUE INDEX one_live_sample ON entries (population, sample) WHERE state != 'void';
CREATE UNIQUE INDEX one_live_entry ON entries (release_id) WHERE state != 'void';
COMMIT;
