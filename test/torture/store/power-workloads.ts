import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { base58 } from '@scure/base'
import type { Random } from '../../../sim/random.ts'
import { defaultKeyFile } from '../../../src/command/operator/signing-key-file.ts'
import { OLDEST_SCHEMA } from '../../../src/log/store/store-schema.ts'
import { unpackKept } from '../../books/kept-store.ts'
import { writeKey } from '../../story/damaged-log.ts'
import { OTHER_KEY, TEST_KEY } from '../../story/signing.ts'
import { DATA } from './cut-check.ts'
import { type RecordedNode, type RecordedWith, type Recorder, type Recording, traceWork } from './recorder.ts'

/** Work of real processes whose calls are recorded. */
type Workload = Readonly<{
  checkpointPages?: number
  /** Makes the files of the folder before the first call. */
  prepare?(folder: string, drafts: Drafts): void
  work(recorder: Recorder, drafts: Drafts): Promise<void>
}>

const DAY_MS = 86_400_000

/** Publishes requests of these sizes, one after the other. */
async function publish(service: RecordedNode, drafts: Drafts, sizes: readonly number[]): Promise<void> {
  for (const size of sizes) await service.publish(drafts.some(size))
}

const sizesOf = ({ random }: Drafts, count: number, most: number): readonly number[] =>
  Array.from({ length: count }, () => random.between(1, most))

/** A new log that publishes requests of some size, and stops. */
const published = (count: number, most: number, more: Pick<Workload, 'checkpointPages'> = {}): Workload => ({
  ...more,
  async work(recorder, drafts) {
    recorder.start({})
    const service = await recorder.serve()
    await publish(service, drafts, sizesOf(drafts, count, most))
    await service.end()
  },
})

/** Services that are killed or stopped, one after the other, in months before the present one. */
const restarted = (starts: number, days: number, how: 'SIGKILL' | 'SIGTERM'): Workload => ({
  checkpointPages: 60,
  async work(recorder, drafts) {
    recorder.start({})
    for (let left = starts; left > 0; left -= 1) {
      const service = await recorder.serve([], -(left - 1) * days * DAY_MS)
      await publish(service, drafts, sizesOf(drafts, 6, 8))
      await service.end(left > 1 ? how : 'SIGTERM')
    }
  },
})

/** Writes a file of drafts for an import, over a hundred days. */
function writeHistory(folder: string, drafts: Drafts, name: string, from: number, events: number): void {
  const step = Math.floor((HISTORY_DAYS * DAY_MS) / events)
  const lines = drafts.some(events).map((draft, index) => {
    return `${JSON.stringify({ ...draft, at: new Date(from + index * step).toISOString() })}\n`
  })
  writeFileSync(join(folder, name), lines.join(''))
}

const HISTORY_DAYS = 100
const FIRST_HISTORY = Date.UTC(2025, 6, 1)
const SECOND_HISTORY = Date.UTC(2025, 11, 1)

/** Imports a file of the folder. `head` is the newest event afterwards. */
async function importFile(recorder: Recorder, name: string, head: number): Promise<void> {
  const { folder, data } = recorder
  await recorder.run('import', join(folder, name), '--data', data, '--development', '--balances', 'report')
  recorder.told({ is: 'imported', head })
}

/** A log that is imported, extended by a second import, and served. */
const imported = (events: number): Workload => ({
  prepare(folder, drafts) {
    writeHistory(folder, drafts, 'first.jsonl', FIRST_HISTORY, events)
    writeHistory(folder, drafts, 'second.jsonl', SECOND_HISTORY, events)
  },
  async work(recorder, drafts) {
    recorder.start({})
    await importFile(recorder, 'first.jsonl', events)
    await importFile(recorder, 'second.jsonl', 2 * events)
    const service = await recorder.serve()
    await publish(service, drafts, [1, 5])
    await service.end()
  },
})

/** Makes a backup of the log and notes its path. */
async function backUp(recorder: Recorder, head: number): Promise<string> {
  const out = await recorder.run('backup', '--data', recorder.data, '--to', join(recorder.folder, 'backups/'))
  const path = out.split(' holds ')[0] ?? ''
  recorder.told({ is: 'backup', path: path.slice(recorder.folder.length + 1), head })
  return path
}

/** A log with a backup while it is served. */
const backedUp = (events: number): Workload => ({
  async work(recorder, drafts) {
    recorder.start({})
    const service = await recorder.serve()
    await publish(service, drafts, [events, 3])
    const copying = backUp(recorder, events + 3)
    await publish(service, drafts, sizesOf(drafts, 10, 3))
    await copying
    await service.end()
  },
})

/** A restore of the newest state, or of an older one whose loss is accepted. */
const restored = (events: number, isOlder: boolean): Workload => ({
  async work(recorder, drafts) {
    const { data } = recorder
    recorder.start({})
    const service = await recorder.serve()
    await publish(service, drafts, [events])
    const backup = await backUp(recorder, events)
    if (isOlder) await publish(service, drafts, [2, 5])
    await service.end()
    const accept = isOlder ? ['--accept-loss'] : []
    if (isOlder) {
      recorder.nextLog()
      recorder.start({ acceptLoss: true })
    }
    await recorder.run('restore', '--data', data, '--from', backup, ...accept)
    const again = await recorder.serve(accept)
    if (isOlder) recorder.start({})
    await publish(again, drafts, [1, 4])
    await again.end()
  },
})

/** A store that is computed again beside the old one. */
const rebuilt = (events: number): Workload => ({
  prepare: (folder, drafts) => writeHistory(folder, drafts, 'first.jsonl', FIRST_HISTORY, events),
  async work(recorder, drafts) {
    recorder.start({})
    await importFile(recorder, 'first.jsonl', events)
    const service = await recorder.serve()
    await publish(service, drafts, [4])
    await service.end()
    await recorder.run('upgrade', '--data', recorder.data, '--rebuild')
    const again = await recorder.serve()
    await publish(again, drafts, [2])
    await again.end()
    await recorder.run('upgrade', '--data', recorder.data, '--remove-old')
  },
})

/** A kept store of an older schema, upgraded by the start of its service. */
const upgraded: Workload = {
  prepare(folder) {
    using kept = unpackKept(OLDEST_SCHEMA)
    cpSync(kept.data, join(folder, DATA), { recursive: true })
    cpSync(defaultKeyFile(kept.data), defaultKeyFile(join(folder, DATA)))
  },
  async work(recorder) {
    recorder.start({ upgrade: true })
    recorder.told({ is: 'imported', head: KEPT_EVENTS })
    const service = await recorder.serve(['--upgrade'])
    await service.publish([{ ref: 'after', type: 'trade', kind: 'buy', kots: '1' }])
    await service.end()
  },
}

/** Events of each kept store. */
const KEPT_EVENTS = 4_484

function writeKeys(folder: string): void {
  writeKey(join(folder, 'old.key'), TEST_KEY)
  writeKey(join(folder, 'new.key'), OTHER_KEY)
}

/** A log whose key changes: the old one, both, and the new one. */
const rekeyed: Workload = {
  prepare: writeKeys,
  async work(recorder, drafts) {
    for (const keyFiles of [['old.key'], ['old.key', 'new.key'], ['new.key']]) {
      recorder.start({ keyFiles })
      const files = keyFiles.map((file) => join(recorder.folder, file)).join(',')
      const service = await recorder.serve(['--signing-key-file', files])
      await publish(service, drafts, [2, 1])
      await service.end()
    }
  },
}

/** A log whose key is lost: the operator accepts another one. */
const newKey: Workload = {
  prepare: writeKeys,
  async work(recorder, drafts) {
    for (const [file, ...more] of [['old.key'], ['new.key', '--accept-new-key']] as const) {
      recorder.start({ keyFiles: [file], acceptNewKey: more.length > 0 })
      const service = await recorder.serve(['--signing-key-file', join(recorder.folder, file), ...more])
      await publish(service, drafts, [2, 1])
      await service.end()
    }
  },
}

/** A server of a chain that nobody answers for. */
const NO_CHAIN = 'solana=http://127.0.0.1:9'

/** Drafts that wait for the chain, of which some are vouched for and some dropped. */
const held = (count: number): Workload => ({
  async work(recorder, drafts) {
    recorder.start({})
    const service = await recorder.serve(['--finality', NO_CHAIN])
    const refs: string[] = []
    for (let sent = 0; sent < count; sent += 1) {
      const ref = `held-${sent}`
      const tx = base58.encode(drafts.random.bytes(64))
      await service.publish([{ ref, type: 'treasury', kind: 'deposit', kots: '5', tx }, ...drafts.some(1)])
      refs.push(ref)
    }
    const reason = 'seen as final'
    await service.ask('POST', '/held/vouch', { refs: refs.slice(0, 2), reason })
    await service.ask('POST', '/held/drop', { refs: refs.slice(-1), reason })
    await service.end()
  },
})

/** A log that is checked and examined while no service uses it. */
const checked: Workload = {
  async work(recorder, drafts) {
    recorder.start({})
    const service = await recorder.serve()
    await publish(service, drafts, [20])
    await service.end('SIGKILL')
    await recorder.run('check', '--data', recorder.data)
    const again = await recorder.serve()
    await publish(again, drafts, [3])
    await again.end()
  },
}

/** Publishers that send at the same time, so that requests share commits. */
const together = (publishers: number): Workload => ({
  checkpointPages: 100,
  async work(recorder, drafts) {
    recorder.start({})
    const service = await recorder.serve()
    for (let round = 0; round < 4; round += 1)
      await Promise.all(Array.from({ length: publishers }, () => service.publish(drafts.some(3))))
    await service.end()
  },
})

/** All workloads, the ones of `npm run test:all` first. */
export const WORKLOADS: Readonly<Record<string, Workload>> = {
  'a new log in two months': restarted(2, 31, 'SIGKILL'),
  'single drafts': published(25, 1),
  'small batches': published(15, 12),
  'large batches': published(4, 300),
  'small batches with checkpoints': published(25, 12, { checkpointPages: 40 }),
  'large batches with checkpoints': published(6, 200, { checkpointPages: 200 }),
  'publishers at the same time': together(4),
  'many publishers at the same time': together(12),
  'kills in five months': restarted(5, 31, 'SIGKILL'),
  'stops in four months': restarted(4, 31, 'SIGTERM'),
  'restarts in one day': restarted(4, 0, 'SIGKILL'),
  'a small import': imported(40),
  'a larger import': imported(600),
  'a backup of a small log': backedUp(10),
  'a backup of a larger log': backedUp(300),
  'a restore': restored(60, false),
  'a restore with a loss': restored(60, true),
  'a store that is computed again': rebuilt(80),
  'a larger store that is computed again': rebuilt(500),
  'an upgrade of an older schema': upgraded,
  'a key that changes': rekeyed,
  'a key that is lost': newKey,
  'held drafts': held(6),
  'a check after a kill': checked,
}

/** Records a workload with its own drafts. */
export function traceWorkload(
  name: string,
  random: Random,
  synchronous: RecordedWith['synchronous'] = 'FULL',
): Promise<Recording> {
  const workload = WORKLOADS[name]
  if (workload === undefined) throw new Error(`there is no workload ${name}`)
  const { prepare = () => undefined, work, checkpointPages = null } = workload
  const drafts = openDrafts(random)
  return traceWork(
    { synchronous, checkpointPages },
    (folder) => prepare(folder, drafts),
    (recorder) => work(recorder, drafts),
  )
}

type Draft = Readonly<Record<string, unknown>>

/** Drafts of a seed, each with a ref of its own. */
type Drafts = Readonly<{ random: Random; some(count: number): readonly Draft[] }>

/** Opens drafts that write every table of the store. */
function openDrafts(random: Random): Drafts {
  let number = 0
  const next = (): Draft => {
    number += 1
    const named = { ref: `draft-${number}`, kots: `${number}.000000001` }
    const contestId = (number % 7) + 1
    const details = { price: `0.${String(number).padStart(12, '0')}` }
    return random.pick<Draft>([
      { ...named, type: 'trade', kind: 'buy' },
      { ...named, type: 'treasury', kind: 'deposit' },
      { ref: named.ref, type: 'price', kind: 'usd', details },
      { ...named, type: 'play', kind: 'entry', contestId },
      { ...named, type: 'pool', kind: 'sponsor', contestId },
      { ...named, type: 'prize', kind: 'winner', contestId },
      { ...named, type: 'payout', kind: 'winner', contestId, tx: base58.encode(random.bytes(64)) },
    ])
  }
  return { random, some: (count) => Array.from({ length: count }, next) }
}
