import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PRODUCT_SOURCES } from '../stage/source-tree.ts'
import { type Mutant, sourceOf } from './mutant.ts'
import { openTypeCheck } from './type-check.ts'

/** Answers of the compiler, and the hash of all sources for which they hold. */
type Answers = Readonly<{ sources: string; accepted: Readonly<Record<string, boolean>> }>

/**
 * Tells whether the compiler accepts a mutant, and keeps the answers in the state until a source changes: a sample of 1,000
 * takes the compiler some minutes, and a run that goes on needs the same answers. `save` writes them.
 */
export function openAcceptedMutants(
  state: string,
): Readonly<{ isAccepted: (mutant: Mutant) => boolean; save: () => void }> {
  const path = join(state, 'accepted.json')
  const sources = hash('sha256', PRODUCT_SOURCES.map(sourceOf).join('\n'))
  const known = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Answers) : undefined
  const accepted = new Map(Object.entries(known?.sources === sources ? known.accepted : {}))
  let ask: ((mutant: Mutant) => boolean) | undefined
  return {
    isAccepted(mutant) {
      const answer = accepted.get(mutant.id) ?? (ask ??= openTypeCheck())(mutant)
      accepted.set(mutant.id, answer)
      return answer
    },
    save() {
      mkdirSync(state, { recursive: true })
      writeFileSync(
        path,
        JSON.stringify({ sources, accepted: Object.fromEntries(accepted) } satisfies Answers),
      )
    },
  }
}
