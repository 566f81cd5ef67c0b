import { Command } from 'commander'
import { optionOf, wholeBetween } from '../terminal/options.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import { CommandError } from '../terminal/world.ts'
import { initPostgres } from './init-postgres.ts'

const STREAM_MAX = 1_000_000

type InitOptions = Readonly<{
  role: string
  stream: number
  passwordFile?: string
  singleDatabase?: true
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
      .argument('<url>', 'address of the engine for an administrator: postgres://admin@a,b/database')
      .addOption(option('--role <name>', 'role with which the nodes run').default('daybook'))
      .addOption(option('--password-file <file>', 'file with the password of the administrator'))
      .addOption(
        option('--stream <n>', 'number of the stream').argParser(wholeBetween(1, STREAM_MAX)).default(1),
      )
      .addOption(option('--single-database', 'accept one database without a standby'))
      .addHelpText(
        'after',
        `
Example:
  daybook cluster init 'postgres://postgres@a.example.org,b.example.org/daybook?sslmode=verify-full' --password-file admin`,
      )
      .action(async (url: string, { role, stream, passwordFile, singleDatabase }: InitOptions) => {
        if (!/^postgres(?:ql)?:/i.test(url)) {
          throw new CommandError(2, 'give an address of PostgreSQL, such as postgres://admin@a,b/database')
        }
        const options = { role, stream, isSingle: singleDatabase === true }
        done(await initPostgres(url, passwordFile ?? null, options, world))
      }),
  )
  return cluster
}
