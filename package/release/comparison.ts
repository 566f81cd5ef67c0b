import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { tarEntriesOf } from './tar-entries.ts'

/** First file that two folders do not have alike, null if none. In an npm package it names the file inside too. */
export function firstDifference(one: string, other: string): string | null {
  const names = new Set([...readdirSync(one), ...readdirSync(other)])
  for (const name of [...names].toSorted()) {
    const [a, b] = [contentOf(join(one, name)), contentOf(join(other, name))]
    if (a === null || b === null) return `${name}, which only one build has`
    if (a.equals(b)) continue
    const inside = name.endsWith('.tgz') ? differenceInside(a, b) : null
    return inside === null ? name : `${inside} in ${name}`
  }
  return null
}

function differenceInside(one: Buffer, other: Buffer): string | null {
  const [a, b] = [tarEntriesOf(one), tarEntriesOf(other)]
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const [left, right] = [a[index], b[index]]
    const alike =
      left?.path === right?.path &&
      left?.mode === right?.mode &&
      left?.modifiedSeconds === right?.modifiedSeconds &&
      left?.content.equals(right?.content ?? Buffer.alloc(0)) === true
    if (!alike) return left?.path ?? right?.path ?? null
  }
  return null
}

function contentOf(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch {
    return null
  }
}
