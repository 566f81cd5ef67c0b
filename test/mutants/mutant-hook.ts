import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

/**
 * Preload of each process and thread of a test: replaces one text in one module when Node loads it. The sources on disk
 * stay as they are. `DAYBOOK_MUTANT` says which text, as JSON. Without it nothing is replaced.
 */

/** Content of `DAYBOOK_MUTANT`. */
export type MutantOrder = Readonly<{
  /** Address of the module. */
  url: string
  start: number
  from: string
  to: string
  /** File to which each process adds a line: whether it found the text. */
  seen: string
}>

const order = process.env['DAYBOOK_MUTANT']
if (order !== undefined) replaceIn(JSON.parse(order) as MutantOrder)

function replaceIn({ url, start, from, to, seen }: MutantOrder): void {
  registerHooks({
    load(loaded, context, next) {
      const module = next(loaded, context)
      if (loaded.split('?', 1)[0] !== url) return module
      const source = Buffer.from((module.source ?? '') as Uint8Array).toString()
      const found = source.startsWith(from, start)
      appendFileSync(seen, found ? 'replaced\n' : 'not found\n')
      if (!found) throw new Error('the module does not have the text to replace')
      return { ...module, source: `${source.slice(0, start)}${to}${source.slice(start + from.length)}` }
    },
  })
}
