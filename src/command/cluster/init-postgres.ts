import { EngineError } from '../../engine/log-engine.ts'
import type { PostgresSetup } from '../../engine/postgres/postgres-setup.ts'
import { POSTGRES_SETTINGS, setUpPostgres } from '../../engine/postgres/postgres-setup.ts'
import { parseDatabaseUrl } from '../terminal/database-url.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import { CommandError } from '../terminal/world.ts'

/** Makes table and role in PostgreSQL, and prints what was made and what each server must be set to. */
export async function initPostgres(
  url: string,
  passwordFile: string | null,
  setup: PostgresSetup,
  world: World,
): Promise<ExitCode> {
  const target = parseDatabaseUrl(url, passwordFile, '<url>')
  const statements = await setUpPostgres(
    { ...target, applicationName: 'daybook cluster' },
    setup,
    world.stop,
  ).catch((cause: unknown) => {
    if (cause instanceof EngineError) throw new CommandError(1, cause.message, { cause })
    throw cause
  })
  const settings = setup.isSingle
    ? POSTGRES_SETTINGS.filter((line) => !line.startsWith('synchronous_standby_names'))
    : POSTGRES_SETTINGS
  world.stdout.write(`-- made on ${target.shown}
${statements.map((statement) => `${statement};\n`).join('')}
-- postgresql.conf of each server, with the names of all of them
${settings.map((line) => `${line}\n`).join('')}
-- next: set a password with \\password ${setup.role} in psql, and start each writer with --log-store and this
-- address, but with the user ${setup.role}${setup.isSingle ? ', and with --single-database' : ''}
`)
  return 0
}
