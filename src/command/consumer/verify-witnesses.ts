import { readBytes } from '../../client/body.ts'
import { DaybookError } from '../../client/daybook-error.ts'
import { NOTE_BYTES_MAX } from '../../tlog/note.ts'
import type { WitnessAnswer, WitnessQuestions } from '../../verify/ask-witnesses.ts'
import { fetchAllowed } from '../terminal/client.ts'
import { VERSION } from '../terminal/version.ts'
import { readWitnesses } from '../terminal/witness-option.ts'
import type { World } from '../terminal/world.ts'

/** Options of `verify` about witnesses, as commander parses them. */
export type WitnessOptions = Readonly<{ witness: readonly string[]; quorum?: number }>

/** Longest wait for the whole answer of a witness. */
const ANSWER_MS_MAX = 10_000

/** Opens the questions to the witnesses; null without `--witness`. Throws a `CommandError` on malformed options. */
export function openWitnessQuestions(
  { witness, quorum }: WitnessOptions,
  world: World,
): WitnessQuestions | null {
  const choice = readWitnesses(witness, quorum, { quorum: '--quorum', needsUrl: false })
  if (choice === null) return null
  const { witnesses } = choice
  const urls = new Set(witnesses.flatMap(({ url }) => url ?? []))
  const asked = Array.from(urls, (url) => {
    const names = new Set(witnesses.filter((one) => one.url === url).map(({ key }) => key.name))
    return { url, keys: witnesses.flatMap(({ key }) => (names.has(key.name) ? key : [])) }
  })
  return {
    keys: witnesses.map(({ key }) => key),
    quorum: choice.quorum,
    asked,
    ask: (address) => askWitness(address, world.stop),
  }
}

async function askWitness(address: string, stop: AbortSignal): Promise<WitnessAnswer> {
  const late = AbortSignal.timeout(ANSWER_MS_MAX)
  try {
    const signal = AbortSignal.any([stop, late])
    const { status, body } = await fetchAllowed(address, {
      signal,
      headers: { 'User-Agent': `daybook/${VERSION}` },
    })
    if (status === 200 && body !== null) return { is: 'note', body: await readBytes(body, NOTE_BYTES_MAX) }
    await body?.cancel()
    return status === 404 ? { is: 'none' } : { is: 'silent', why: `status ${status}` }
  } catch (error) {
    stop.throwIfAborted()
    if (late.aborted) return { is: 'silent', why: `not within ${ANSWER_MS_MAX / 1000} s` }
    return { is: 'silent', why: error instanceof DaybookError ? error.message : 'it cannot be reached' }
  }
}
