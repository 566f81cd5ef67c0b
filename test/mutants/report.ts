import type { GeneratedMutant } from './generate-mutants.ts'
import { roomOfSource, ROOMS } from './generated-sample.ts'
import type { Judgement } from './judge-mutant.ts'
import { lineAt, sourceOf } from './mutant.ts'
import { KNOWN_SURVIVORS } from './survivors.ts'

type Judged = Readonly<{ mutant: GeneratedMutant; judgement: Judgement | undefined }>

const isDead = ({ judgement }: Judged): boolean =>
  judgement?.verdict === 'killed' || judgement?.verdict === 'hung'

/** A run of generated mutants in Markdown: a table by room, and the survivors with their places and reasons. */
export function reportOfRun(
  drawn: readonly GeneratedMutant[],
  judgements: ReadonlyMap<string, Judgement>,
): string {
  const judged = drawn
    .map((mutant) => ({ mutant, judgement: judgements.get(mutant.id) }))
    .filter(({ judgement }) => judgement !== undefined)
  const rows = [...ROOMS.map(({ room }) => room), 'all'].flatMap((room) => {
    const own = judged.filter(({ mutant }) => room === 'all' || roomOfSource(mutant.file) === room)
    return own.length === 0 ? [] : [rowOf(room, own)]
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
