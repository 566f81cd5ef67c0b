import assert from 'node:assert/strict'
import type { ApiStage } from '../stage/api-stage.ts'
import { plain } from '../web/parity/page-tree.ts'

/** Lines of text of the picture at a path, from the SVG that the stage drew last. */
export async function linesOf(path: string, stage: ApiStage): Promise<readonly string[]> {
  const response = await stage.get(path)
  assert.equal(response.status, 200, await response.clone().text())
  const svg = stage.drawn.at(-1) ?? ''
  return [...svg.matchAll(/<text\b[^>]*>([^]*?)<\/text/g)].map(([, text = '']) =>
    plain(text.replaceAll(/<[^>]*>/g, '')).trim(),
  )
}
