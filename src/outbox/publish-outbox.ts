import { parseDatabaseUrl } from '../command/database/database-url.ts'
import type { PublishPart } from '../command/plug/option.ts'
import { givenAccess, type PublishOptions } from '../command/publish/publish-command.ts'
import { option } from '../command/terminal/options.ts'
import { UsageError } from '../command/terminal/command-error.ts'
import { drainOutbox } from './drain.ts'
import { outboxSql, parseOutboxTable } from './outbox-sql.ts'

type OutboxOptions = PublishOptions &
  Readonly<{
    from?: string
    passwordFile?: string
    table: string
    once?: true
    sql?: true
  }>

/** Part of `publish`: `--from` drains an outbox, `--sql` prints the SQL of its table. */
export const PUBLISH_OUTBOX: PublishPart = {
  options: [
    option('--from <url>', 'drain an outbox in PostgreSQL without end: postgres://user@host/database'),
    option('--password-file <file>', 'file with the password of --from'),
    option('--table <name>', 'table of the outbox').default('public.daybook_outbox'),
    option('--once', 'with --from: end when the table has no row left'),
    option('--sql', 'print the SQL that makes the table, its trigger and a role'),
  ],
  help: `  daybook publish --sql > outbox.sql
  daybook publish --from postgres://daybook@db.example.org/platform --password-file password --token-file token`,
  isChosen({ from, sql, once, table }: OutboxOptions, file) {
    const sources = [file, from, sql].filter((source) => source != null)
    if (sources.length > 1) throw new UsageError('give only one of a file, --from and --sql')
    if (once === true && from === undefined) throw new UsageError('--once needs --from')
    parseOutboxTable(table)
    return from !== undefined || sql === true
  },
  async publish({ from, passwordFile, once, table: name, ...options }: OutboxOptions, context) {
    const table = parseOutboxTable(name)
    if (from === undefined) {
      context.stdout.write(outboxSql(table))
      return 0
    }
    const target = parseDatabaseUrl(from, passwordFile ?? null)
    const access = await givenAccess(options, context)
    return drainOutbox({ target, table, access, once: once === true }, context)
  },
}
