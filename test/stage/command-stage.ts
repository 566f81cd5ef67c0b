import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, request as ask, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { Command, CommanderError, type Option } from 'commander'
import { openMainLines } from '../../src/command/log-lines/log-lines.ts'
import type { ProgramContext } from '../../src/command/plug/option.ts'
import { OPTIONS } from '../../src/plugged-options.ts'
import { openProgram } from '../../src/command/program.ts'
import type { CommandContext } from '../../src/command/terminal/command-context.ts'
import { CommandError } from '../../src/command/terminal/command-error.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { startDaybook, type StartedDaybook } from './started-daybook.ts'
import type { Service } from './service.ts'
import { publishTo } from './node-process.ts'

const POLL_MS = 10

export type RunResult = Readonly<{ code: number; stdout: string; stderr: string }>

/** Surroundings of a command, apart from those of this process. */
export function contextOf(context: Partial<CommandContext>): CommandContext {
  return {
    now: () => msOf(Date.now()),
    monotonicMs: () => performance.now(),
    random: Math.random,
    program: 'daybook',
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    interactive: false,
    sharesPorts: true,
    hasFileModes: true,
    isRoot: process.geteuid?.() === 0,
    stop: new AbortController().signal,
    ...context,
  }
}

/** A command of these options alone, which prints no errors. */
export function commandWith(options: readonly Option[]): Command {
  const command = new Command('test').exitOverride().configureOutput({ writeErr: () => undefined })
  for (const option of options) command.addOption(option)
  return command
}

/** The program with its own surroundings: as it is for the words of a command line, or whole. */
export async function programOf(
  context: Partial<CommandContext>,
  done: (code: number) => void,
  words: readonly string[] = [],
  options: ProgramContext['options'] = OPTIONS,
): Promise<Command> {
  const whole = contextOf(context)
  const surroundings = {
    context: whole,
    lines: openMainLines(whole),
    input: Readable.from([]),
    options,
  }
  const program = await openProgram(surroundings, words, done)
  const silence = { writeOut: write(whole.stdout), writeErr: write(whole.stderr) }
  for (const command of everyCommand(program)) command.exitOverride().configureOutput(silence)
  return program
}

const write =
  (to: CommandContext['stdout']) =>
  (text: string): void =>
    void to.write(text)

export function everyCommand(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(everyCommand)]
}

/** Runs a command in this process, which takes a tenth of the time of a child process. */
export async function run(
  words: readonly string[],
  context: Partial<CommandContext> = {},
): Promise<RunResult> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const [out, err] = [gather(stdout), gather(stderr)]
  let code = -1
  try {
    const program = await programOf({ stdout, stderr, ...context }, (given) => (code = given), words)
    await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) code = error.exitCode === 0 ? 0 : 2
    else if (error instanceof CommandError) {
      code = error.exitCode
      stderr.write(`daybook: ${error.message}\n`)
    } else throw error
  }
  stdout.end()
  stderr.end()
  return { code, stdout: await out, stderr: await err }
}

async function gather(stream: PassThrough): Promise<string> {
  let text = ''
  for await (const chunk of stream.setEncoding('utf8')) text += String(chunk)
  return text
}

/** A command in a child process. */
type Child = Pick<StartedDaybook, 'child' | 'says'> & Readonly<{ ended(): Promise<RunResult> }>

export function start(words: readonly string[], cwd?: string): Child {
  const { child, says, stdout, stderr, ended } = startDaybook(words, { cwd })
  return {
    child,
    says,
    async ended() {
      const { code } = await ended()
      return { code: code ?? -1, stdout: stdout(), stderr: stderr() }
    },
  }
}

/** Publishes a deposit and returns its seq. */
export async function publishDeposit(to: Service, ref: string): Promise<number> {
  const { drafts } = await publishTo(to, [{ ref, type: 'treasury', kind: 'deposit', kots: '1' }])
  return drafts[0]?.seq ?? 0
}

/** Fault of a proxy: none, a body that never comes, or a body that is cut after some bytes. */
type ProxyFault = 'none' | 'hold' | Readonly<{ cutAfter: number; once: () => boolean }>

/** Starts a proxy of a service that injects faults and notes the requests. */
export async function startProxy(
  url: string | ((path: string) => string),
  meddle: (path: string, count: number) => ProxyFault,
): Promise<
  Readonly<{ url: string; asked: (readonly [path: string, headers: IncomingHttpHeaders])[] }> &
    AsyncDisposable
> {
  const asked: (readonly [string, IncomingHttpHeaders])[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    asked.push([path, request.headers])
    const count = asked.filter(([other]) => other === path).length
    const upstream = ask(
      new URL(path, typeof url === 'string' ? url : url(path)),
      { method: request.method, headers: request.headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        void hand(answer, response, meddle(path, count))
      },
    )
    upstream.on('error', () => response.destroy())
    response.on('close', () => upstream.destroy())
    request.pipe(upstream)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function hand(answer: Readable, response: ServerResponse, meddling: ProxyFault): Promise<void> {
  if (meddling === 'hold') return response.flushHeaders()
  if (meddling === 'none') return void answer.pipe(response)
  const body = Buffer.concat(await answer.toArray())
  response.write(body.subarray(0, meddling.cutAfter))
  // A client drops unread bytes when the connection breaks, so wait until it has read them.
  while (!meddling.once()) await sleep(POLL_MS)
  response.destroy()
}

const BRACE = 0x7b

/** Server that answers with a body for a path with its query, or with 404 for undefined. */
export async function serveBodies(
  bodyOf: (path: string) => string | Uint8Array | undefined,
): Promise<Readonly<{ url: string }> & AsyncDisposable> {
  const server = createServer((request, response) => {
    const body = bodyOf(request.url ?? '')
    const first = typeof body === 'string' ? body.codePointAt(0) : body?.at(0)
    const type = first === BRACE ? 'application/json' : 'text/plain'
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': type }).end(body ?? '{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}
