import { Option } from 'commander'
import type { ServePart } from '../../command/plug/option.ts'
import { parseDatabaseUrl } from '../../command/database/database-url.ts'
import { option } from '../../command/terminal/options.ts'
import { UsageError } from '../../command/terminal/command-error.ts'
import { clusterReportReader } from '../log/cluster-reports.ts'
import type { TableSettings } from '../table/open-table.ts'

/** Options that name the table of a log, as commander parses them. */
export type TableOptionValues = Readonly<{
  logStore?: string
  logStoreCredentials?: string
  singleDatabase?: true
}>

/** Options that name the table which carries the log. */
export const TABLE_OPTIONS: readonly Option[] = [
  option(
    '--log-store <url>',
    'database whose table carries the log of several nodes: postgres://user@a,b/database',
  ),
  option('--log-store-credentials <file>', 'file with the password of --log-store'),
  new Option('--single-database', 'accept a PostgreSQL without a synchronous standby'),
]

/** Table of the options; null without `--log-store`. Errors never repeat values, which may contain a password. */
function tableOf(options: TableOptionValues): TableSettings | null {
  const { logStore, logStoreCredentials, singleDatabase } = options
  if (logStore === undefined) {
    if (logStoreCredentials !== undefined || singleDatabase !== undefined)
      throw new UsageError('--log-store-credentials and --single-database need --log-store')
    return null
  }
  if (!/^postgres(?:ql)?:/i.test(logStore))
    throw new UsageError('--log-store: give an address such as postgres://user@a,b/database')
  const target = parseDatabaseUrl(
    logStore,
    logStoreCredentials ?? null,
    '--log-store',
    '--log-store-credentials',
  )
  return { database: target, isSingle: singleDatabase === true }
}

/** Table for a command that needs one. Throws a CommandError without `--log-store`. */
export function requireTable(options: TableOptionValues): TableSettings {
  const table = tableOf(options)
  if (table === null) throw new UsageError('give the address of the database with --log-store')
  return table
}

/** The part of `serve`. */
export const SERVE_ON_TABLE: ServePart = {
  options: TABLE_OPTIONS,
  carrier(options) {
    const settings = tableOf(options)
    if (settings === null) return null
    const module = import.meta.resolve('../log/cluster-writer-thread.ts')
    return { module, settings, reportReader: clusterReportReader }
  },
}
