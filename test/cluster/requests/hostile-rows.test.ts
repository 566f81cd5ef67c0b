import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { openCampaign } from '../../torture/campaign.ts'
import { attack, outcomeOf } from '../../torture/requests/attacked-parser.ts'
import { CAMPAIGNS } from '../campaign/campaign-rows.ts'
import { tableParsers } from './table-parsers.ts'

const CAMPAIGN = openCampaign('hostile-rows', CAMPAIGNS)
const FOLDER = mkdtempSync(join(tmpdir(), 'daybook-rows-'))
after(() => rmSync(FOLDER, { recursive: true }))
const PARSERS = tableParsers(FOLDER)

suite('a parser of rows, and of the files of a node on a table', () => {
  test('takes all its valid inputs', async () => {
    for (const parser of PARSERS) {
      const outcomes = parser.valid.map((one) => outcomeOf(parser, Buffer.from(one as string), parser.name))
      for (const { is } of await Promise.all(outcomes)) assert.equal(is, 'accepted', parser.name)
    }
  })

  test('makes of any damaged input a value or a named refusal, and writes a value as it was', async (t) => {
    const { random, seed, size } = CAMPAIGN
    const counts = { accepted: 0, refused: 0, rewritten: 0 }
    for (let input = 0; input < size; input += 1) {
      const parser = PARSERS[input % PARSERS.length] ?? assert.fail()
      await attack(parser, random, counts, `seed ${seed}, input ${input}`)
    }
    const floors = { parsers: 5, accepted: size / 100, refused: size / 2, rewritten: 0 }
    CAMPAIGN.finish(t, { inputs: size, parsers: PARSERS.length, ...counts }, floors)
  })
})
