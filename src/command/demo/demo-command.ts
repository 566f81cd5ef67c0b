import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { openDemoChain, type PublishedPayments } from '../../../sim/chain/demo-chain.ts'
import { openRpcServer } from '../../../sim/chain/rpc-server.ts'
import { writeHistory } from '../../../sim/history-file.ts'
import { HISTORY_MS } from '../../../sim/history.ts'
import { numberOf, type PublishDraft, refOf, REFS_FROM, REFS_TO } from '../../../sim/import-draft.ts'
import { liveDrafts, publishOnTime, type SendResult } from '../../../sim/live.ts'
import type { LogReader } from '../../log/store/reader.ts'
import { openRefs } from '../../log/store/refs.ts'
import { hasStore, isSimulatedLog, StoreError } from '../../log/store/store.ts'
import { assert } from '../../protocol/brand.ts'
import { type DaybookEvent, parseEvent } from '../../protocol/event.ts'
import { floorTo, MINUTE_MS, type Ms, msOf } from '../../protocol/moment.ts'
import { BEFORE_FIRST, nextSeq } from '../../protocol/seq.ts'
import { openScripts } from '../../web/assets/assets.ts'
import type { LogLines } from '../log-lines/log-lines.ts'
import { beginLines, openPlainOutput, sayStart } from '../log-lines/start-lines.ts'
import { runImport } from '../operator/import-command.ts'
import {
  loadServeParts,
  serve,
  type ServeOptions,
  SERVE_OPTIONS,
  settingsOf,
} from '../operator/serve-command.ts'
import { upgradeFirst } from '../operator/upgrade-command.ts'
import type { CommandSpec, ProgramContext, ServePart } from '../plug/option.ts'
import type { Service, ServiceSettings } from '../service/service.ts'
import { type ExitCode, printNotice, type CommandContext } from '../terminal/command-context.ts'
import { CommandError, UsageError } from '../terminal/command-error.ts'
import { hostInUrl } from '../terminal/log-address.ts'
import { refuseMirrorDirectory, refuseOtherOwner } from '../terminal/log-directory.ts'

/** Seed of the demonstration. Every first start has the same history, up to now. */
const SEED = 'daybook'
/** Number of payouts for each one that fails on the pretend chain and is sent again. */
const FAILED_ONE_IN = 100
/** Requests a minute to the pretend chain. It is asked about every transaction of some seconds. */
const REQUESTS_A_MINUTE = 600

/** The command `demo`, with the core's options of `serve`. */
export function demoCommand({ context, lines, options: plugged }: ProgramContext): CommandSpec {
  return {
    name: 'demo',
    description: 'serve a simulated platform: three months of history, then live events',
    options: SERVE_OPTIONS,
    async run(options: ServeOptions, command: Command) {
      const { data, chain = 'solana' } = options
      if (holdsRealLog(data))
        throw new UsageError(`${data} holds a log that is not simulated: give --data another directory`)
      if (chain !== 'solana') throw new UsageError('the simulated platform needs --chain solana')
      // On a terminal, only errors are shown unless the user asks for more.
      const isQuiet = context.interactive && command.getOptionValueSource('logLevel') === 'default'
      const shown = beginLines(isQuiet ? { ...options, logLevel: 'error' } : options, { context, lines })
      // This text goes to lines of `info`, because few people want to read it.
      const aside = { ...shown, stderr: openPlainOutput(lines) }
      refuseOtherOwner(data, shown)
      refuseMirrorDirectory(data)
      if (hasStore(data)) await upgradeDemo(data, shown)
      const ports = { carrier: null, cosigners: null, judgeOf: () => null }
      const settings = settingsOf(options, { simulated: true, ...ports }, aside)
      sayStart(lines, command)
      const parts = await loadServeParts(plugged)
      const { judgeAt = null } = parts.find((part) => part.judgeAt !== undefined) ?? {}
      return await demo(settings, judgeAt, { shown, aside }, lines)
    },
  }
}

/** Whether a data directory holds a log that is not simulated. The demonstration must not publish in it. */
export function holdsRealLog(data: string): boolean {
  return hasStore(data) && !isSimulatedLog(data)
}

/** Upgrades the demonstration of an older Daybook. */
export async function upgradeDemo(data: string, context: CommandContext): Promise<void> {
  try {
    await upgradeFirst({ data, waitMs: 0, rebuild: false, keyFiles: null }, context)
  } catch (cause) {
    if (!(cause instanceof StoreError)) throw cause
    // Nothing is removed without the user.
    const action = 'or remove this folder, which holds a demonstration only, and start again'
    throw new CommandError(`${data}: ${cause.message}; ${action}`, { cause })
  }
}

/**
 * Serves a simulated platform: three months of history at the first start, then live events every few seconds. With an
 * option that judges transactions, payments are held until a pretend chain confirms them.
 */
async function demo(
  settings: ServiceSettings,
  judgeAt: NonNullable<ServePart['judgeAt']> | null,
  { shown: context, aside }: Readonly<{ shown: CommandContext; aside: CommandContext }>,
  lines: LogLines,
): Promise<ExitCode> {
  if (!hasStore(settings.data)) {
    printNotice(context, 'First start: simulating three months of history of an invented platform.')
    // The bundler works on another core and stores the scripts, so that the first page does not wait for them.
    const bundled = openScripts()().catch(() => undefined)
    const failed = await makeHistory(settings, context)
    if (failed !== 0) return failed
    await bundled
  }
  await using payments = await openDemoPayments(SEED, context.now)
  const judge = judgeAt?.(`solana=${payments.url}`, REQUESTS_A_MINUTE) ?? null
  return await serve({ ...settings, judge }, context, lines, async (service, stop) => {
    payments.know(service.reader)
    const address = `http://${hostInUrl(settings.host)}:${service.port}`
    if (judge !== null) {
      printNotice(
        aside,
        `pretend chain on ${payments.url}; payments that wait for it: curl ${address}/api/v1/status`,
      )
      printNotice(
        aside,
        `ask the pretend chain: ${context.program} verify ${address} --chain solana=${payments.url}`,
      )
      printNotice(aside, `and what it paid out: --payer ${payments.payer} --token ${payments.token}`)
    }
    // The first page waits for scripts and modules, so it is requested before the user is told to open it. A stop
    // aborts the request, because a drain would wait for it. The simulator begins afterwards, because it needs the same
    // CPU.
    await fetch(address, { signal: stop })
      .then(async (page) => {
        await page.body?.cancel()
        printNotice(context, `Open ${address}/ · Ctrl-C stops`)
      })
      .catch((error: unknown) => {
        if (!stop.aborted) lines.say('page-failed', { err: error })
      })
    await publishLive(service, settings, aside, stop, payments.send)
  })
}

async function makeHistory(settings: ServiceSettings, context: CommandContext): Promise<ExitCode> {
  const to = floorTo(context.now(), MINUTE_MS)
  const file = join(settings.data, 'history.drafts.jsonl')
  try {
    const settingsOfHistory = { seed: SEED, from: msOf(to - HISTORY_MS), to }
    // Another core writes it while this thread loads the modules of the service.
    await Promise.all([writeHistory(file, settingsOfHistory, context.stop), import('../service/service.ts')])
    return await runImport(
      {
        files: [file],
        data: settings.data,
        newLog: settings.newLog,
        keys: settings.signing.keys,
        balances: 'refuse',
      },
      context,
    )
  } finally {
    if (existsSync(file)) rmSync(file)
  }
}

/** Publishes the simulated events through the publish API, as an operator would, each at its moment. */
async function publishLive(
  service: Service,
  settings: ServiceSettings,
  context: CommandContext,
  stop: AbortSignal,
  sendTx: (tx: string) => void,
): Promise<void> {
  const from = service.reader.snapshot((snapshot) => snapshot.books.firstAtMs)
  assert(from !== null, 'the demonstration begins with a history')
  // Counts only simulated events, because users may have published others by hand.
  using refs = openRefs(settings.data)
  const dues = liveDrafts({
    seed: SEED,
    from,
    to: msOf(from + HISTORY_MS),
    failedOneIn: FAILED_ONE_IN,
    published: numberOf(refs.lastBetween(REFS_FROM, REFS_TO)),
    now: context.now,
  })
  const platform = {
    now: context.now,
    until: (moment: Ms, signal: AbortSignal) => waitUntil(moment, context, signal),
    // Held drafts are checked first. A draft that is published in between is then found by its seq.
    seqOf: (number: number) => (refs.isHeld(refOf(number)) ? ('held' as const) : refs.seqOf(refOf(number))),
    send(draft: PublishDraft) {
      if (draft.tx !== undefined) sendTx(draft.tx)
      return sendDraft(service.publishPort, settings, draft)
    },
    skip: ({ type, kind, ref }: PublishDraft, reason: string) =>
      printNotice(context, `the simulator skips ${type}/${kind} (${ref}): ${reason}`),
  }
  await publishOnTime(dues, platform, stop)
}

async function sendDraft(port: number, settings: ServiceSettings, draft: PublishDraft): Promise<SendResult> {
  const address = `http://${hostInUrl(settings.publishHost)}:${port}/publish`
  const response = await fetch(address, {
    method: 'POST',
    headers: { authorization: `Bearer ${settings.tokens[0] ?? ''}`, 'content-type': 'application/json' },
    body: JSON.stringify([draft]),
  }).catch(() => null)
  if (response === null) return 'later'
  const answer = await response.text()
  if (response.ok) return 'accepted'
  return response.status >= 500 ? 'later' : { refused: answer, mayPass: /"held":\d/.test(answer) }
}

async function waitUntil(moment: Ms, context: CommandContext, signal: AbortSignal): Promise<void> {
  const ms = moment - context.now()
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => undefined)
}

/** Pretend chain of the demonstration, with its RPC server. */
type DemoPayments = AsyncDisposable &
  Readonly<{
    /** Address of the RPC server. */
    url: string
    /** Account that makes all payouts, and their token. */
    payer: string
    token: string
    /** Sends a transaction to the chain. */
    send(tx: string): void
    /** Sets the log. From now on, the chain knows the transactions of published events. */
    know(reader: LogReader): void
  }>

async function openDemoPayments(seed: string, now: () => Ms): Promise<DemoPayments> {
  let log: LogReader | null = null
  const published: PublishedPayments = {
    names: (tx) => log !== null && eventsOf(log, tx).length > 0,
    // A payment stays made, so a correction subtracts nothing.
    paidIn: (tx) =>
      (log === null ? [] : eventsOf(log, tx))
        .filter(({ type }) => type === 'payout')
        .reduce((sum, { kots }) => sum + (kots ?? 0n), 0n),
  }
  const { chain, payer, token, send } = openDemoChain(seed, now, published)
  const rpc = await openRpcServer({ chain, cors: true })
  return {
    url: rpc.url,
    payer,
    token,
    send,
    know(reader) {
      log = reader
    },
    [Symbol.asyncDispose]: rpc.close,
  }
}

const EVERY_EVENT = { types: null, kinds: null, contestIds: null, nonzero: false } as const

/** Most events of one transaction that are read. The simulator names a transaction in one event. */
const EVENTS_MAX = 1_000

function eventsOf(reader: LogReader, tx: string): readonly DaybookEvent[] {
  return reader.snapshot((snapshot) => {
    const range = { after: BEFORE_FIRST, before: nextSeq(snapshot.head.seq), order: 'asc' } as const
    const bounds = { limit: EVENTS_MAX, examineMax: EVENTS_MAX }
    const { bytes } = snapshot.walk({ filter: EVERY_EVENT, tx, ...range, ...bounds }, 'ndjson')
    return new TextDecoder().decode(bytes).split('\n').filter(Boolean).map(parseEvent)
  })
}
