import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const TOKENS = readFileSync(join(import.meta.dirname, '..', 'style', 'tokens.css'), 'utf8')
const COLOURS = new Map(
  [...TOKENS.matchAll(/--([\w-]+): light-dark\((#\w+), (#\w+)\)/g)].map(([, name = '', light, dark]) => [
    name,
    { light, dark },
  ]),
)

/** Colour of `style/tokens.css` by its name, for pictures, to which no style sheet applies. */
export function colourOf(name: string, theme: 'light' | 'dark'): string {
  const colour = COLOURS.get(name)?.[theme]
  if (colour === undefined) throw new Error(`the style sheet has no colour ${name}`)
  return colour
}
