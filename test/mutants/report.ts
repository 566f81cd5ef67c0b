import type { GeneratedMutant } from './generate-mutants.ts'
import { PURE_ROOMS, roomOfSource, ROOMS } from './generated-sample.ts'
import type { Judgement } from './judge-mutant.ts'
import { lineAt, sourceOf } from './mutant.ts'
import { KNOWN_SURVIVORS } from './survivors.ts'

type Judged = Readonly<{ mutant: GeneratedMutant; judgement: Judgement | undefined }>

const isDead = ({ judgement }: Judged): boolean =>
  judgement?.verdict === 'killed' || judgement?.verdict === 'hung'

/** Least share of the mutants of the pure rooms that die. */
const PURE_PERCENT_MIN = 90

/**
 * Reasons why a run of generated mutants fails, one a line: it is not finished, too few mutants of the pure rooms die, or
 * a survivor of any room has no reason. A survivor with a reason counts as alive in the share.
 */
export function faultsOfRun(
  drawn: readonly GeneratedMutant[],
  judgements: ReadonlyMap<string, Judgement>,
  reasons: Readonly<Record<string, string>> = KNOWN_SURVIVORS,
): readonly string[] {
  const judged = judgedOf(drawn, judgements)
  const faults = judged
    .filter((one) => !isDead(one) && reasons[one.mutant.id] === undefined)
    .map(({ mutant }) => `no test kills this mutant, and no reason is listed: ${mutant.id}`)
  if (judged.length < drawn.length)
    return [`the sample is not finished: ${judged.length} of ${drawn.length} mutants are judged`, ...faults]
  const pure = judged.filter(({ mutant }) => PURE_ROOMS.includes(roomOfSource(mutant.file)))
  const dead = pure.filter(isDead).length
  if (100 * dead >= PURE_PERCENT_MIN * pure.length) return faults
  return [
    `${dead} of ${pure.length} mutants of the pure rooms die: at least ${PURE_PERCENT_MIN} % must`,
    ...faults,
  ]
}

function judgedOf(
  drawn: readonly GeneratedMutant[],
  judgements: ReadonlyMap<string, Judgement>,
): readonly Judged[] {
  return drawn
    .map((mutant) => ({ mutant, judgement: judgements.get(mutant.id) }))
    .filter(({ judgement }) => judgement !== undefined)
}

/** A run of generated mutants in Markdown: a table by room, and the survivors with their places and reasons. */
export function reportOfRun(
  drawn: readonly GeneratedMutant[],
  judgements: ReadonlyMap<string, Judgement>,
): string {
  const judged = judgedOf(drawn, judgements)
  const parts = [
    ...ROOMS.map(({ room }) => [room, [room]] as const),
    ['pure rooms', PURE_ROOMS] as const,
    ['all', ROOMS.map(({ room }) => room)] as const,
  ]
  const rows = parts.flatMap(([name, rooms]) => {
    const own = judged.filter(({ mutant }) => rooms.includes(roomOfSource(mutant.file)))
    return own.length === 0 ? [] : [rowOf(name, own)]
  })
  const alive = judged.filter((one) => !isDead(one))
  const survivors = alive.map(({ mutant, judgement }) => {
    const place = `${mutant.file}:${lineAt(sourceOf(mutant.file), mutant.start)}`
    const reason = KNOWN_SURVIVORS[mutant.id] ?? '**no reason yet**'
    return `- ${place} ${mutant.id.slice(mutant.file.length + 1)} (${judgement?.verdict}, ${judgement?.passed} tests): ${reason}`
  })
  const head = [
    '| Room | Mutants | Killed | Hung | Survived | Not executed | Dead | Seconds each |',
    '|---|---|---|---|---|---|---|---|',
  ]
  return [...head, ...rows, '', ...survivors, ''].join('\n')
}

function rowOf(room: string, own: readonly Judged[]): string {
  const count = (verdict: Judgement['verdict']): number =>
    own.filter(({ judgement }) => judgement?.verdict === verdict).length
  const seconds = own.reduce((sum, { judgement }) => sum + (judgement?.seconds ?? 0), 0) / own.length
  const share = (100 * own.filter(isDead).length) / own.length
  const counts = (['killed', 'hung', 'survived', 'unreached'] as const).map(count)
  return `| ${room} | ${own.length} | ${counts.join(' | ')} | ${share.toFixed(1)} % | ${seconds.toFixed(1)} |`
}
