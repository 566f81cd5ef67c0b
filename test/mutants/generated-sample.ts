import { hash } from 'node:crypto'
import { PRODUCT_SOURCES } from '../stage/source-tree.ts'
import { type GeneratedMutant, mutantsOf } from './generate-mutants.ts'

/** Parts of the product that mutants are generated of. The first pattern that a source matches names its room. */
export const ROOMS: readonly Readonly<{ room: string; pattern: RegExp }>[] = [
  { room: 'guard', pattern: /^src\/protocol\/(?:addresses\/|address-guard)/ },
  { room: 'tlog', pattern: /^src\/tlog\// },
  { room: 'project', pattern: /^src\/project\// },
  { room: 'protocol', pattern: /^src\/protocol\// },
  { room: 'log', pattern: /^src\/log\// },
  { room: 'admission', pattern: /^src\/publish\/(?:admission|held|commits)\// },
  { room: 'stream', pattern: /^src\/serve\/stream\// },
  { room: 'allowance', pattern: /^src\/serve\/allowance\// },
  { room: 'verify', pattern: /^src\/verify\// },
]

/** Rooms of pure functions: no disk, network or clock excuses a mutant that lives there. */
export const PURE_ROOMS: readonly string[] = ['guard', 'tlog', 'project', 'protocol']

export function roomOfSource(file: string): string {
  return ROOMS.find(({ pattern }) => pattern.test(file))?.room ?? ''
}

/** Sources whose mutants nothing but their own text shows. */
const LEFT_OUT = /^src\/log\/(?:books\/.*-columns|store\/sqlite-error)\.ts$/

/**
 * Draws `count` mutants by a seed, of those that are accepted. A mutant's place in the draw depends on the seed and
 * its id alone, so a change elsewhere moves few others.
 */
export function drawMutants(
  seed: string,
  count: number,
  room: string | undefined,
  isAccepted: (mutant: GeneratedMutant) => boolean,
): Readonly<{ drawn: readonly GeneratedMutant[]; all: number; refused: number }> {
  const files = PRODUCT_SOURCES.filter(
    (file) =>
      roomOfSource(file) !== '' &&
      !LEFT_OUT.test(file) &&
      (room ?? roomOfSource(file)) === roomOfSource(file),
  )
  const all = files.flatMap((file) => mutantsOf(file))
  const drawnAt = new Map(all.map(({ id }) => [id, hash('sha256', `${seed} ${id}`)]))
  const order = (id: string): string => drawnAt.get(id) ?? ''
  const drawn: GeneratedMutant[] = []
  let refused = 0
  for (const mutant of all.toSorted((a, b) => (order(a.id) < order(b.id) ? -1 : 1))) {
    if (drawn.length === count) break
    if (isAccepted(mutant)) drawn.push(mutant)
    else refused += 1
  }
  return { drawn, all: all.length, refused }
}
