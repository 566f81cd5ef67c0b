import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storePath } from '../../../src/log/store/store.ts'
import { MAIN } from '../../stage/places.ts'
import { currentContent, openPowerDisk, type RecordedCall, recordedCalls } from './power-disk.ts'
import { contentOf, formatTold, type LogContent, type StartAgain, type Told, toldOf } from './recorded-log.ts'
import { wholeState } from './cut-states.ts'
import { DATA } from './cut-check.ts'
import { shimEnv } from './io-shim.ts'

/** Time limit of a start and of a command. */
const START_MS_MAX = 60_000
const ANSWER_MS_MAX = 30_000

/** Calls of a workload with the answers between them, the files before its first call, and the logs that it wrote. */
export type Recording = Readonly<{
  before: ReadonlyMap<string, Uint8Array | 'folder'>
  calls: readonly RecordedCall[]
  logs: readonly LogContent[]
}>

/** Surroundings of the recorded processes. */
export type RecordedWith = Readonly<{
  /** `FULL`, as the product sets it, or a setting that loses commits. */
  synchronous: 'FULL' | 'NORMAL'
  /** Pages of the write-ahead log at which a commit checkpoints; as the product sets it when null. */
  checkpointPages: number | null
}>

const PRELOAD = new URL(import.meta.resolve('./recorded-thread.ts')).href

/** A service under the recorder. */
export type RecordedNode = Readonly<{
  url: string
  publish(drafts: readonly object[]): Promise<void>
  /** Asks the publish API, and returns the answer's body. */
  ask(method: string, path: string, body?: object): Promise<unknown>
  end(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
}>

/** Records the calls of real processes below a temporary folder. */
export type Recorder = Readonly<{
  folder: string
  data: string
  /** Notes the options of the start that is repeated after a power cut from now on. */
  start(start: StartAgain): void
  serve(options?: readonly string[], clock?: number): Promise<RecordedNode>
  /** Runs a command to its end, and returns its standard output. */
  run(...words: readonly string[]): Promise<string>
  told(told: Told): void
  /** Begins the next log: the present one loses events that were published. */
  nextLog(): void
}>

/** Records one workload. `prepare` makes files that are durable before the first call. */
export async function traceWork(
  surroundings: RecordedWith,
  prepare: (folder: string) => void,
  work: (recorder: Recorder) => Promise<void>,
): Promise<Recording> {
  const top = mkdtempSync(join(tmpdir(), 'daybook-power-'))
  const folder = join(top, 'root')
  const trace = join(top, 'trace')
  const logs: LogContent[] = []
  try {
    mkdirSync(folder)
    prepare(folder)
    const before = filesBelow(folder)
    appendFileSync(trace, '')
    const data = join(folder, DATA)
    let answers = 0
    await work(openRecorder({ folder, data, trace, logs, surroundings, onAnswer: () => (answers += 1) }))
    logs.push(copiedContent(data, top))
    const calls = recordedCalls(readFileSync(trace))
    const sent = calls.filter((call) => toldOf(call)?.is === 'answered').length
    assert.equal(sent, answers, 'each answer of the publish API is recorded when it is sent')
    const recording = { before, calls, logs }
    assertComplete(recording, folder)
    return recording
  } finally {
    rmSync(top, { recursive: true })
  }
}

/** Content of the store of a directory, read from a copy: to open the store would change files without a record. */
function copiedContent(data: string, folder: string): LogContent {
  const copy = join(folder, 'copy.db')
  for (const suffix of ['', '-wal']) {
    rmSync(`${copy}${suffix}`, { force: true })
    if (existsSync(`${storePath(data)}${suffix}`))
      copyFileSync(`${storePath(data)}${suffix}`, `${copy}${suffix}`)
  }
  return contentOf(copy)
}

type Parts = Readonly<{
  folder: string
  data: string
  trace: string
  logs: LogContent[]
  surroundings: RecordedWith
  /** Called for each answer of the publish API. */
  onAnswer(): void
}>

function openRecorder({ folder, data, trace, logs, surroundings, onAnswer }: Parts): Recorder {
  const env = (clock: number): NodeJS.ProcessEnv => ({
    ...Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^(DAYBOOK_|NODE_TEST)/.test(key))),
    ...shimEnv({ root: folder, trace }),
    RECORDED_CLOCK_MS: String(clock),
    RECORDED_SYNCHRONOUS: surroundings.synchronous,
    ...(surroundings.checkpointPages !== null && {
      RECORDED_CHECKPOINT: String(surroundings.checkpointPages),
    }),
  })
  const told = (one: Told): void => appendFileSync(trace, formatTold(one))
  const open = { words: ['--import', PRELOAD, MAIN], env, told, onAnswer, data, log: () => logs.length }
  return {
    folder,
    data,
    told,
    start: (start) => told({ is: 'start', start }),
    serve: (options = [], clock = 0) => serve(open, options, clock),
    async run(...words) {
      told({ is: 'command', words: words.map((word) => word.replaceAll(folder, 'ROOT')) })
      const child = spawn(process.execPath, [...open.words, ...words], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: env(0),
      })
      let [out, said] = ['', '']
      child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
      child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
      await once(child, 'close')
      assert.equal(child.exitCode, 0, `${words.join(' ')}:\n${said}`)
      told({ is: 'command', words: null })
      return out
    },
    nextLog: () => void logs.push(copiedContent(data, join(folder, '..'))),
  }
}

type OpenRecorder = Readonly<{
  words: readonly string[]
  env(clock: number): NodeJS.ProcessEnv
  told(told: Told): void
  onAnswer(): void
  data: string
  log(): number
}>

async function serve(
  { words, env, told, onAnswer, data, log }: OpenRecorder,
  options: readonly string[],
  clock: number,
): Promise<RecordedNode> {
  const own = ['serve', '--data', data, '--development', '--port', '0', '--publish-port', '0']
  const fixed = ['--rate-limit', 'off', '--drain', '0', '--balances', 'report']
  const child = spawn(process.execPath, [...words, ...own, ...fixed, ...options], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: env(clock),
  })
  const closed = once(child, 'close')
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  const late = setTimeout(() => child.kill('SIGKILL'), START_MS_MAX)
  const addressOf = (what: string): string | undefined =>
    new RegExp(`${what} on (http://127\\.0\\.0\\.1:\\d+)`).exec(said)?.[1]
  while (addressOf('publish API') === undefined) {
    const what = await Promise.race([once(child.stderr, 'data'), closed.then(() => 'closed' as const)])
    if (what === 'closed') break
  }
  clearTimeout(late)
  const [url, publishUrl] = [addressOf('listening'), addressOf('publish API')]
  assert.ok(url !== undefined && publishUrl !== undefined, `the service did not start:\n${said}`)
  const { log: id } = (await (await fetch(`${url}/api/v1/status`)).json()) as { log: string }
  told({ is: 'serving', id, log: log() })
  const token = readFileSync(join(data, 'publish-token'), 'utf8').trim()
  const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${publishUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    })
    const json: unknown = await response.json()
    assert.equal(response.status, 200, JSON.stringify(json))
    onAnswer()
    return json
  }
  return {
    url,
    ask,
    publish: async (drafts) => void (await ask('POST', '/publish', drafts)),
    async end(signal = 'SIGTERM') {
      child.kill(signal)
      await closed
      assert.equal(child.exitCode, signal === 'SIGTERM' ? 0 : null, said)
    },
  }
}

/** Files and folders below a folder. */
function filesBelow(folder: string): ReadonlyMap<string, Uint8Array | 'folder'> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()
  return new Map(
    names.map((name) => {
      const path = join(folder, name)
      return [name, statSync(path).isDirectory() ? ('folder' as const) : readFileSync(path)] as const
    }),
  )
}

/** Asserts that the recorded calls make the files that are there: no change was missed. */
function assertComplete({ before, calls }: Recording, folder: string): void {
  const disk = openPowerDisk(before)
  for (const call of calls) disk.apply(call)
  const state = wholeState(disk, currentContent)
  const found = filesBelow(folder)
  const names = [...found.keys()].filter((name) => !name.endsWith('-shm'))
  assert.deepEqual([...state.keys()].filter((path) => path !== '.').toSorted(), names)
  for (const name of names) {
    const [ours, real] = [state.get(name), found.get(name)]
    if (ours !== undefined && ours !== 'folder' && real !== undefined && real !== 'folder')
      assert.ok(Buffer.compare(ours, real) === 0, `the calls that were recorded make ${name} as it is`)
  }
}
