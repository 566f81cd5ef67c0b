import { DRAFT_LINE_BYTES_MAX } from '../protocol/draft.ts'
import { UsageError } from '../command/terminal/command-error.ts'

/** Most bytes of a draft that gets its ref from the drainer. The rest of the longest line is for that ref. */
const DRAFT_BYTES_MAX: number = DRAFT_LINE_BYTES_MAX - 536
/** Longest name of a channel in PostgreSQL. With a longer one, every insert would fail. */
const CHANNEL_BYTES_MAX = 63
/** First keys of the advisory locks; the second key is the table's oid. */
const ORDER_LOCK = 1_684_107_115
export const DRAINER_LOCK = 1_684_107_116

/** A table of drafts: its names, as SQL writes them. */
export type OutboxTable = Readonly<{
  schema: string
  name: string
  /** `schema.name`, also the channel of its notifications. */
  full: string
  /** Trigger and function that give each row its place in the order of commits. */
  trigger: string
}>

/** Parses `--table`: a name, or a schema and a name. Both are lower-case, so they need no quotes. */
export function parseOutboxTable(text: string): OutboxTable {
  const { schema = 'public', name } =
    /^(?:(?<schema>[a-z_][a-z0-9_]{0,62})\.)?(?<name>[a-z_][a-z0-9_]{0,49})$/.exec(text)?.groups ?? {}
  if (name === undefined) {
    throw new UsageError(
      '--table: give a lower-case name of at most 50 characters, such as daybook_outbox or platform.daybook_outbox',
    )
  }
  // Both are ASCII. The channel is `schema.name`.
  const channelBytes = schema.length + 1 + name.length
  if (channelBytes > CHANNEL_BYTES_MAX) {
    throw new UsageError(
      `--table: schema, dot and name have ${channelBytes} characters; give at most ${CHANNEL_BYTES_MAX}`,
    )
  }
  return { schema, name, full: `"${schema}"."${name}"`, trigger: `${name}_place` }
}

/** SQL that makes the outbox: table, index, trigger and role. */
export function outboxSql({ schema, name, full, trigger }: OutboxTable): string {
  const own = (suffix: string): string => `"${schema}"."${name}_${suffix}"`
  return `-- Outbox of Daybook, for PostgreSQL 13 or newer. Run it as the owner of the platform's tables.
-- A transaction inserts its drafts here; Daybook publishes them after the commit, in the order of commits.
BEGIN;

CREATE TABLE ${full} (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(), -- ref of a draft that has none
  draft json NOT NULL
    CHECK (json_typeof(draft) = 'object' AND octet_length(draft::text) <= ${DRAFT_BYTES_MAX}),
  inserted_at timestamptz NOT NULL DEFAULT now(),
  pos bigint UNIQUE,      -- place in the order of commits; set by the trigger
  drained_at timestamptz, -- set by Daybook, like the columns below
  status text,            -- published, duplicate, held, failed or dropped
  seq bigint,             -- the event's seq, when it was published at once
  log text                -- id of the log that took the draft
);
CREATE SEQUENCE ${own('pos')} AS bigint OWNED BY ${full}.pos;
CREATE INDEX "${name}_waiting" ON ${full} (pos NULLS FIRST) WHERE drained_at IS NULL;
CREATE INDEX "${name}_drained" ON ${full} (drained_at) WHERE drained_at IS NOT NULL;

-- Runs at the end of each transaction with new rows. The lock lets these transactions commit one by one,
-- so a row with a lower position is never seen later than one with a higher position.
-- A row that a restore or a replication brings keeps its position, and new rows come after all others.
CREATE FUNCTION "${schema}"."${trigger}"() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  place bigint;
  highest bigint;
BEGIN
  -- What Daybook has read must survive a crash of this server.
  IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  PERFORM pg_notify('${schema}.${name}', '');
  IF NEW.pos IS NOT NULL THEN
    RETURN NULL;
  END IF;

  PERFORM pg_advisory_xact_lock(${ORDER_LOCK}, TG_RELID::integer);
  place := nextval('${own('pos')}');
  highest := (SELECT max(pos) FROM ${full});
  IF highest >= place THEN -- the rows came without the value of the sequence
    place := setval('${own('pos')}', highest + 1);
  END IF;
  UPDATE ${full} SET pos = place WHERE ctid = NEW.ctid AND id = NEW.id;
  IF NOT FOUND THEN -- the transaction has updated its own row
    UPDATE ${full} SET pos = place WHERE id = NEW.id AND pos IS NULL;
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER "${trigger}" AFTER INSERT ON ${full}
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "${schema}"."${trigger}"();

-- Daybook logs in as this role. Give it a password, or allow it in pg_hba.conf.
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'daybook') THEN CREATE ROLE daybook LOGIN; END IF;
END $$;
GRANT USAGE ON SCHEMA "${schema}" TO daybook;
GRANT SELECT, UPDATE (drained_at, status, seq, log) ON ${full} TO daybook;

COMMIT;

-- A role of the platform needs only this:
--   GRANT INSERT (draft) ON ${full} TO your_role;
`
}
