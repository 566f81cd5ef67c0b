import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openAsk } from '../../client/ask.ts'
import { DaybookError } from '../../client/daybook-error.ts'
import { SURROUNDINGS } from '../../client/surroundings.ts'
import { parseCheckpoint } from '../../tlog/checkpoint.ts'
import { parseNote } from '../../tlog/note.ts'
import { parseVkey } from '../../tlog/vkey.ts'
import { type Audit, audit, type AuditSettings } from '../../verify/audit.ts'
import { NODE_PRIMITIVES } from '../terminal/node-primitives.ts'
import { formatReport, isVerified } from '../../verify/report.ts'
import type { SavedNote } from '../../verify/saved-checkpoint.ts'
import { openLiveSource } from '../../verify/reading/live-source.ts'
import type { Source } from '../../verify/reading/source.ts'
import { fetchSameOrigin, isAddress, readAddress } from '../terminal/log-address.ts'
import { fetchWithNotice } from '../terminal/client.ts'
import { asPathError, systemReason } from '../terminal/option-paths.ts'
import { shellQuoted } from '../terminal/output.ts'
import { openProgress } from '../terminal/progress.ts'
import { openChainCheck } from '../../finality/audit/ask-chain.ts'
import { type ChainOptions, openChainQuestions } from './verify-chain.ts'
import { openWitnessQuestions, type WitnessOptions } from './verify-witnesses.ts'
import { openFolderSource } from './folder-source.ts'
import { type CheckpointFolder, openCheckpointFolder } from './checkpoint-folder.ts'
import { CommandError, type ExitCode, tell, type World } from '../terminal/world.ts'

type VerifySettings = Readonly<{
  /** Address of a service, or a folder with a copy of its files. */
  target: string
  since: string | null
  save: string | null
  /** Verifier keys from a source other than the service. */
  keys: readonly string[]
  chain: ChainOptions
  witnesses: WitnessOptions
}>

/** Verifies a service or a folder of its files, and prints a report of one screen. */
export async function verify(settings: VerifySettings, world: World): Promise<ExitCode> {
  const started = world.monotonicMs()
  for (const key of settings.keys) {
    if (parseVkey(NODE_PRIMITIVES.sha256, key) === undefined)
      throw new CommandError(2, '--key is not a verifier key: give one of the form <origin>+<id>+<base64>')
  }
  const since = settings.since === null ? [] : [readSince(settings.since)]
  const witnesses = openWitnessQuestions(settings.witnesses, world)
  const { source, requests } = openTarget(settings.target, world)
  const questions = await openChainQuestions(settings.chain, source, world)
  const chain = questions && openChainCheck(questions)
  const folder = settings.save === null ? null : openCheckpointFolder(settings.save)
  const found = await runAudit({ ...settings, chain, witnesses }, source, since, folder, world)
  const spent = `${requests()} ${source.is === 'service' ? 'requests' : 'files'}, ${duration(world.monotonicMs() - started)}`
  world.stdout.write(formatReport(found, world.drawn === true ? 'drawn' : 'plain', spent))
  // The report comes first, so that a full disk cannot prevent it.
  for (const line of saveResults(found, folder)) tell(world, line)
  return isVerified(found) ? 0 : 1
}

async function runAudit(
  { keys, chain, witnesses }: Pick<VerifySettings, 'keys'> & Pick<AuditSettings, 'chain' | 'witnesses'>,
  source: Source,
  since: readonly SavedNote[],
  folder: CheckpointFolder | null,
  world: World,
): Promise<Audit> {
  const bars = {
    asking: openProgress('asking', 'answers', world),
    reading: openProgress('reading', 'events', world),
    chain: openProgress('asking the chain', 'answers', world),
  }
  try {
    return await audit({
      source,
      primitives: NODE_PRIMITIVES,
      own: { given: keys, keptOf: (origin) => folder?.keysOf(origin) ?? [] },
      saved: [...since, ...(folder?.saved() ?? [])],
      chance: world.random,
      now: world.now,
      chain,
      witnesses,
      signal: world.stop,
      onProgress(stage, done, total) {
        if (stage !== 'asking') bars.asking.end()
        if (stage === 'chain') bars.reading.end()
        bars[stage].at(done, total)
      },
    })
  } catch (error) {
    if (world.stop.aborted) throw new CommandError(1, 'stopped; the log was not verified', { cause: error })
    if (error instanceof DaybookError) throw new CommandError(1, error.message, { cause: error })
    throw error
  } finally {
    bars.asking.end()
    bars.reading.end()
    bars.chain.end()
  }
}

/** Saves the checkpoint and any evidence; returns lines for the user. */
function saveResults(found: Audit, folder: CheckpointFolder | null): readonly string[] {
  if (folder === null) {
    return found.evidence.length > 0 ? ['evidence was found and not saved: give --save DIR to save it'] : []
  }
  try {
    if (found.keep !== null) folder.keep(found.keep)
    return found.evidence.map((one) => `evidence saved in ${folder.keepEvidence(one)}`)
  } catch (error) {
    throw asPathError(error, '--save')
  }
}

type Target = Readonly<{ source: Source; requests(): number }>

function openTarget(target: string, world: World): Target {
  let count = 0
  if (!isAddress(target)) {
    if (statSync(target, { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw new CommandError(
        2,
        `${shellQuoted(target)} is neither an address (http://…) nor an existing folder`,
      )
    }
    const mirrored = join(target, 'api', 'v1')
    const isMirror = statSync(mirrored, { throwIfNoEntry: false })?.isDirectory() === true
    const folder = openFolderSource(isMirror ? mirrored : target)
    const read: Source['read'] = async (path) => {
      const file = await folder.read(path)
      count += file === undefined ? 0 : 1
      return file
    }
    return { source: { ...folder, read }, requests: () => count }
  }
  const base = readAddress(target)
  const fetch = fetchSameOrigin(fetchWithNotice(base, world))
  const ask = openAsk({
    base,
    now: world.monotonicMs,
    random: world.random,
    fetch(url, init) {
      count += 1
      return fetch(url, init)
    },
  })
  return { source: openLiveSource(ask, SURROUNDINGS.sleep, world.stop), requests: () => count }
}

function readSince(file: string): SavedNote {
  let note: Uint8Array
  try {
    note = readFileSync(file)
  } catch (cause) {
    throw new CommandError(2, `--since: ${shellQuoted(file)} cannot be read: ${systemReason(cause)}`, {
      cause,
    })
  }
  const parsed = parseNote(note)
  if (!parsed.ok || parseCheckpoint(parsed.value.text) === undefined) {
    throw new CommandError(2, `--since: ${shellQuoted(file)} is not a checkpoint`)
  }
  return { name: file, note, named: true }
}

function duration(ms: number): string {
  const seconds = ms / 1000
  return seconds < 120
    ? `${seconds.toFixed(1)} s`
    : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
}
