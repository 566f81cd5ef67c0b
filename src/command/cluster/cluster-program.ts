import { Command } from 'commander'
import { FIRST_STREAM } from '../../log/message/message.ts'
import { optionOf } from '../terminal/options.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import { CommandError } from '../terminal/world.ts'
import { adoptCommand } from './adopt-command.ts'
import { checkStreamCommand } from './check-stream-command.ts'
import { moveCommand } from './move-command.ts'
import { reclaimCommand } from './reclaim-command.ts'
import { keysCommand, rollCommand, versionCommand } from './step-commands.ts'
import { streamOption } from './stream-option.ts'

type InitOptions = Readonly<{
  role: string
  stream: number
  passwordFile?: string
  singleDatabase?: true
  to?: string
}>

/** The command `cluster`: what an operator does to the engine that carries the log. */
export function clusterCommand(world: World, done: (code: ExitCode) => void): Command {
  const option = optionOf('cluster')
  const cluster = new Command('cluster').description(
    'set up the engine that carries a log to several machines',
  )
  cluster.addCommand(
    new Command('init')
      .description('make the stream of the log and the rights of its nodes, as an administrator')
      .argument(
        '<url>',
        'address of the engine: nats://a,b,c, or for an administrator postgres://admin@a,b/database',
      )
      .addOption(
        option('--to <folder>', 'with NATS: folder for the users and the configuration that lets them in'),
      )
      .addOption(option('--role <name>', 'with PostgreSQL: role with which the nodes run').default('daybook'))
      .addOption(
        option('--password-file <file>', 'with PostgreSQL: file with the password of the administrator'),
      )
      .addOption(streamOption('number of the stream').default(FIRST_STREAM))
      .addOption(option('--single-database', 'with PostgreSQL: accept one database without a standby'))
      .addHelpText(
        'after',
        `
Examples:
  daybook cluster init 'nats://a.example.org,b.example.org,c.example.org?ca=ca.pem' --to nats
  daybook cluster init 'postgres://postgres@a.example.org,b.example.org/daybook?sslmode=verify-full' --password-file admin`,
      )
      .action(async (url: string, options: InitOptions) => {
        done(await init(url, options, world))
      }),
  )
  cluster.addCommand(moveCommand(world, done))
  cluster.addCommand(checkStreamCommand(world, done))
  for (const step of [rollCommand, keysCommand, versionCommand]) cluster.addCommand(step(world, done))
  cluster.addCommand(adoptCommand(world, done))
  cluster.addCommand(reclaimCommand(world, done))
  return cluster
}

/** Makes the stream. The client of an engine is loaded by this command only. */
async function init(
  url: string,
  { to, role, stream, passwordFile, singleDatabase }: InitOptions,
  world: World,
): Promise<ExitCode> {
  if (/^(?:nats|tls):/i.test(url)) {
    if (to === undefined) throw new CommandError(2, 'give --to with a folder for the users of NATS')
    if (passwordFile !== undefined || singleDatabase === true) {
      throw new CommandError(2, '--password-file and --single-database are for PostgreSQL: leave them out')
    }
    const { initNats } = await import('./init-nats.ts')
    return await initNats(url, { folder: to, stream }, world)
  }
  if (!/^postgres(?:ql)?:/i.test(url)) {
    throw new CommandError(2, 'give an address such as nats://a,b,c or postgres://admin@a,b/database')
  }
  if (to !== undefined) throw new CommandError(2, '--to is for NATS: leave it out')
  const { initPostgres } = await import('./init-postgres.ts')
  return await initPostgres(
    url,
    passwordFile ?? null,
    { role, stream, isSingle: singleDatabase === true },
    world,
  )
}
