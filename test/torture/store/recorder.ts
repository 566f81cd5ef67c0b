import assert from 'node:assert/strict'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { storePath } from '../../../src/log/store/store.ts'
import { startDaybook } from '../../stage/started-daybook.ts'
import { DATA } from './cut-check.ts'
import { withShim } from './io-shim.ts'
import { openPowerDisk, type RecordedCall, recordedCalls, wholeState } from './power-disk.ts'
import { contentOf, formatTold, type LogContent, type StartAgain, type Told, toldOf } from './recorded-log.ts'
import { openFolder } from '../../story/damaged-log.ts'

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
  using top = openFolder()
  const [folder, trace] = [join(top.path, 'root'), join(top.path, 'trace')]
  const data = join(folder, DATA)
  const logs: LogContent[] = []
  let answers = 0
  const told = (one: Told): void => appendFileSync(trace, formatTold(one))

  /** Command before Daybook, whose clock is off by so many milliseconds. */
  function recorded(clock: number): readonly string[] {
    const { synchronous, checkpointPages } = surroundings
    const own = [`RECORDED_CLOCK_MS=${clock}`, `RECORDED_SYNCHRONOUS=${synchronous}`]
    if (checkpointPages !== null) own.push(`RECORDED_CHECKPOINT=${checkpointPages}`)
    return [
      ...withShim({ root: folder, trace }),
      ...own,
      `NODE_OPTIONS=${process.env['NODE_OPTIONS'] ?? ''} --import=${PRELOAD}`,
    ]
  }

  async function serve(options: readonly string[] = [], clock = 0): Promise<RecordedNode> {
    const log = ['serve', '--data', data, '--development', '--port', '0', '--publish-port', '0']
    const fixed = ['--rate-limit', 'off', '--drain', '0', '--balances', 'report']
    const service = startDaybook([...log, ...fixed, ...options], { before: recorded(clock) })
    const { url, publishUrl } = await service.addresses()
    const { log: id } = (await (await fetch(`${url}/api/v1/status`)).json()) as { log: string }
    told({ is: 'serving', id, log: logs.length })
    const token = readFileSync(join(data, 'publish-token'), 'utf8').trim()
    const ask: RecordedNode['ask'] = async (method, path, body) => {
      const response = await fetch(`${publishUrl}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
      })
      const json: unknown = await response.json()
      assert.equal(response.status, 200, JSON.stringify(json))
      answers += 1
      return json
    }
    return {
      ask,
      publish: async (drafts) => void (await ask('POST', '/publish', drafts)),
      async end(signal = 'SIGTERM') {
        assert.equal((await service.end(signal)).code, signal === 'SIGTERM' ? 0 : null, service.stderr())
      },
    }
  }

  mkdirSync(folder)
  prepare(folder)
  const before = filesBelow(folder)
  appendFileSync(trace, '')
  await work({
    folder,
    data,
    told,
    start: (start) => told({ is: 'start', start }),
    serve,
    async run(...words) {
      told({ is: 'command', words: words.map((word) => word.replaceAll(folder, 'ROOT')) })
      const command = startDaybook(words, { before: recorded(0) })
      assert.equal((await command.ended()).code, 0, `${words.join(' ')}:\n${command.stderr()}`)
      told({ is: 'command', words: null })
      return command.stdout()
    },
    nextLog: () => void logs.push(copiedContent(data, top.path)),
  })
  logs.push(copiedContent(data, top.path))
  const calls = recordedCalls(readFileSync(trace))
  const sent = calls.filter((call) => toldOf(call)?.is === 'answered').length
  assert.equal(sent, answers, 'each answer of the publish API is recorded when it is sent')
  assertComplete({ before, calls, logs }, folder)
  return { before, calls, logs }
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
  const state = wholeState(disk)
  const found = filesBelow(folder)
  const names = [...found.keys()].filter((name) => !name.endsWith('-shm'))
  assert.deepEqual([...state.keys()].filter((path) => path !== '.').toSorted(), names)
  for (const name of names) {
    const [ours, real] = [state.get(name), found.get(name)]
    if (ours !== undefined && ours !== 'folder' && real !== undefined && real !== 'folder')
      assert.ok(Buffer.compare(ours, real) === 0, `the calls that were recorded make ${name} as it is`)
  }
}
