import { appendFileSync } from 'node:fs'
import { type LoadFnOutput, registerHooks } from 'node:module'

/**
 * Preload of each process and thread of a test: replaces one text in one module when Node loads it. The sources on disk
 * stay as they are. `TEST_MUTANT` says which text, as JSON. Without it nothing is replaced. A service that a test starts gets the
 * variable too, because its name does not begin with DAYBOOK.
 */

/** Content of `TEST_MUTANT`. */
export type MutantOrder = Readonly<{
  /** Address of the module. */
  url: string
  start: number
  from: string
  to: string
  /** File to which each process adds a line: whether it found the text. */
  seen: string
}>

const RANDOM_TESTS = '/fast-check/lib/fast-check.js'
const NO_SEARCH = 'configureGlobal({ endOnFailure: true })'

const order = process.env['TEST_MUTANT']
if (order !== undefined) replaceIn(JSON.parse(order) as MutantOrder)

function replaceIn({ url, start, from, to, seen }: MutantOrder): void {
  registerHooks({
    load(loaded, context, next) {
      const module = next(loaded, context)
      // A counterexample is enough: the search for a smaller one takes longer than the test.
      if (loaded.endsWith(RANDOM_TESTS)) return { ...module, source: `${textOf(module)}\n${NO_SEARCH}` }
      if (loaded.split('?', 1)[0] !== url) return module
      const source = textOf(module)
      const found = source.startsWith(from, start)
      appendFileSync(seen, found ? 'replaced\n' : 'not found\n')
      if (!found) throw new Error('the module does not have the text to replace')
      return { ...module, source: `${source.slice(0, start)}${to}${source.slice(start + from.length)}` }
    },
  })
}

function textOf({ source = '' }: LoadFnOutput): string {
  return Buffer.from((source ?? '') as Uint8Array).toString()
}
