import type { Argument, Option as CommandOption } from 'commander'
import type { Registry } from 'prom-client'
import type { Readable } from 'node:stream'
import type { LogReader } from '../../log/store/reader.ts'
import type { Status } from '../../protocol/endpoints/description-endpoints.ts'
import type { Chain } from '../../protocol/tx.ts'
import type { Checkpoint, TrustedLog } from '../../tlog/checkpoint.ts'
import type { Note } from '../../tlog/note.ts'
import type { ChainCheck } from '../../verify/audit.ts'
import type { Source } from '../../verify/reading/source.ts'
import type { WriterPart } from '../../publish/writer/writer-messages.ts'
import type { LogLines } from '../log-lines/log-lines.ts'
import type { ExitCode, CommandContext } from '../terminal/command-context.ts'

/**
 * Option of the program: a room that talks to other machines, and that one can delete. `main.ts` plugs it in by a line
 * of its table. The core imports no option, and no option imports another. An option adds commands, and parts of the
 * core's commands. Each part is loaded when its command runs.
 */
export type Option = Readonly<{
  /** Commands of its own. */
  commands?: readonly LazyCommand[]
  /** Its part of `serve`. */
  serve?(): Promise<ServePart>
  /** Its part of `publish`. */
  publish?(): Promise<PublishPart>
  /** Its part of `verify`. */
  verify?(): Promise<VerifyPart>
  /** Its part of `mirror`, which is a command of another option. */
  mirror?(): Promise<MirrorPart>
}>

/**
 * Part of `serve`, which fills one or more of the three ports of a running node. A function that reads parsed options
 * returns null when they do not choose the port. It throws a CommandError for a mistake.
 */
export type ServePart = Readonly<{
  /** Its options of the command. */
  options: readonly CommandOption[]
  /** Port `leads()`: other machines carry the log, and one of its nodes leads. */
  carrier?(options: object): LogCarrier | null
  /**
   * Port `judge(tx)`: asks a blockchain about transactions. `chain` is that of the log; null when it is not known yet.
   */
  judge?(options: object, chain: Chain | null): Judge | null
  /** Judge that asks these servers, `solana=URL`, at this rate. For `demo`, which has a pretend chain. */
  judgeAt?(servers: string, requestsPerMinute: number): Judge
  /** Port `cosign(checkpoint)`: asks others to cosign the log. */
  cosigners?(options: object): Cosigners | null
}>

/** Other machines that carry the log. The module of their part is the writer's thread itself. */
export type LogCarrier = WriterPart &
  Readonly<{
    /** Registers metrics. Returns the reader of that thread's reports. */
    reportReader(node: NodeTools & Readonly<{ show: ShowFollowing }>): ReportReader
  }>

/** Shows the serving threads whether this node leads, and how far it is behind. */
type ShowFollowing = (following: Status['following']) => void

/** Judge of transactions. The module of its part in the writer's thread exports `openTxJudge`. */
export type Judge = WriterPart &
  Readonly<{
    /** Registers metrics. Returns the reader of the judge's reports. */
    reportReader(node: NodeTools): ReportReader
  }>

/** Witnesses that are asked to cosign the log. The newest checkpoint with a quorum is stored beside the store. */
export type Cosigners = Readonly<{
  /** Asks them from now on. */
  start(node: NodeTools & Readonly<{ data: string; reader: FedLog }>): AsyncDisposable
}>

type FedLog = Pick<LogReader, 'identity' | 'head' | 'snapshot'>

/**
 * Reader of the reports from a part of the writer's thread. It is a method, so that each part has its own report types.
 */
export type ReportReader = Readonly<{ read(report: object): void }>['read']

/** Metrics, log lines and clocks of a node. */
export type NodeTools = Readonly<{
  registry: Registry
  lines: LogLines
  context: Pick<CommandContext, 'now' | 'monotonicMs'>
}>

/** Part of `publish`: another source of drafts than a file. */
export type PublishPart = Readonly<{
  /** Its options of the command, and its examples in the help. */
  options: readonly CommandOption[]
  help: string
  /** Whether the parsed options choose it instead of the file. Throws a CommandError for a mistake. */
  isChosen(options: object, file: string | null): boolean
  /** Publishes the drafts of the source. */
  publish(options: object, context: CommandContext): Promise<ExitCode>
}>

/** Part of `verify`: a check of the log's transactions against a blockchain. */
export type VerifyPart = Readonly<{
  /** Its options of the command, and its example in the help. */
  options: readonly CommandOption[]
  help: string
  /** Opens the check; null when the parsed options do not choose it. Throws a CommandError for a mistake. */
  checkOf(options: object, source: Source, context: CommandContext): Promise<ChainCheck | null>
}>

/**
 * Part of `mirror`, a node that proves the log of another service. Port `cosign(checkpoint)`: cosigns the proved log.
 */
export type MirrorPart = Readonly<{
  /** Its options of the command. */
  options: readonly CommandOption[]
  /** The witness of a mirror in this data directory; null when the parsed options do not choose it. */
  witness(options: object, data: string): MirrorWitness | null
}>

/** Witness of a mirror. */
export type MirrorWitness = Readonly<{
  /** Locks its directory and checks that its port is free, before the mirror is built. Throws a CommandError. */
  take(): Promise<Disposable>
  /** Opens its keys and its state. Throws a CommandError when it must not continue with them. */
  open(log: ProvedLog, node: NodeTools & Readonly<{ context: CommandContext }>): OpenMirrorWitness
}>

/** Witness of a mirror, whose public listener can be started. `operations` is the private listener of the mirror. */
type OpenMirrorWitness = Disposable &
  Readonly<{
    listen(
      operations: Readonly<{ host: string; port: number }>,
    ): Promise<AsyncDisposable & Readonly<{ port: number }>>
  }>

/** Log that this node has proved, with its current keys. */
export type ProvedLog = TrustedLog &
  Readonly<{
    /** Refusal of a checkpoint that the log has signed; null when this node has proved its tree. */
    whyNot(signed: Readonly<{ checkpoint: Checkpoint; note: Note }>): Promise<GuardRefusal | null>
  }>

/** `unproved`: not proved now. `inconsistent`: the log has signed an impossible tree. */
export type GuardRefusal = Readonly<{ outcome: 'unproved' | 'inconsistent'; reason: string }>

/** Surroundings of every command. */
export type ProgramContext = Readonly<{
  context: CommandContext
  lines: LogLines
  input: Readable
  /** Options that `main.ts` plugs in. */
  options: readonly Option[]
}>

/** Command: its name, its options, and the function that runs it. */
export type CommandSpec = Readonly<{
  name: string
  alias?: string | undefined
  description: string
  arguments?: readonly Argument[]
  options?: readonly CommandOption[]
  /** Text below the options in the help: examples. */
  help?: string
  /** Commands below it. */
  commands?: readonly CommandSpec[]
  /** Whether the parent command runs it when no subcommand is named. */
  isDefault?: true
  /** Runs it with its arguments, its parsed options and commander's command. */
  run?(...given: unknown[]): ExitCode | Promise<ExitCode>
}>

/** Headings of the groups of commands in the help, by users, in the order of the help. */
export const COMMAND_GROUPS = {
  trial: 'To try Daybook:',
  readers: 'For players, analysts and developers:',
  auditors: 'For auditors, mirrors and witnesses:',
  operators: 'For operators:',
} as const

/** Command that is loaded when it is called, and its group in the help. */
export type LazyCommand = Readonly<{
  group: keyof typeof COMMAND_GROUPS
  name: string
  load(): Promise<(surroundings: ProgramContext) => CommandSpec | Promise<CommandSpec>>
}>

export function lazy(group: LazyCommand['group'], name: string, load: LazyCommand['load']): LazyCommand {
  return { group, name, load }
}
