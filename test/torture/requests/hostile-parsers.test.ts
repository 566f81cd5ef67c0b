import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { randomOf } from '../../../sim/random.ts'
import { openCampaign } from '../campaign.ts'
import { ACCEPTED, attack, type AttackedParser, outcomeOf } from './attacked-parser.ts'
import { fileParsers } from './file-parsers.ts'
import { PROOF_PARSERS } from './proof-parsers.ts'
import { RPC_PARSERS } from './rpc-parsers.ts'
import { STREAM_PARSERS } from './stream-parsers.ts'
import { TEXT_PARSERS } from './text-parsers.ts'

const CAMPAIGN = openCampaign('hostile-parsers')
const FOLDER = mkdtempSync(join(tmpdir(), 'daybook-parsers-'))
after(() => rmSync(FOLDER, { recursive: true }))
const PARSERS: readonly AttackedParser[] = [
  ...TEXT_PARSERS,
  ...PROOF_PARSERS,
  ...STREAM_PARSERS,
  ...RPC_PARSERS,
  ...fileParsers(FOLDER),
]
/** Inputs after which a long run says how far it is. */
const TOLD_INPUTS = 100_000

suite('a parser of bytes that others send', () => {
  test('takes its valid inputs', async () => {
    for (const parser of PARSERS) {
      const outcomes = parser.valid.map((one) => outcomeOf(parser, Buffer.from(one as string), parser.name))
      const accepted = (await Promise.all(outcomes)).filter(({ is }) => is === 'accepted')
      assert.notEqual(accepted.length, 0, parser.name)
      if (parser.name.startsWith('a draft')) assert.equal(accepted.length, parser.valid.length, parser.name)
    }
  })

  test('makes of any damaged input a value or a named refusal, pollutes nothing, and writes a value as it was', async (t) => {
    const counts = { accepted: 0, refused: 0, rewritten: 0 }
    for (let input = 0; input < CAMPAIGN.size; input++) {
      const parser = PARSERS[input % PARSERS.length] ?? assert.fail()
      await attack(parser, CAMPAIGN.random, counts, `seed ${CAMPAIGN.seed}, input ${input}`)
      if (input % TOLD_INPUTS === TOLD_INPUTS - 1) t.diagnostic(`${input + 1} inputs`)
    }
    const { size } = CAMPAIGN
    const floors = { parsers: 65, accepted: size / 20, refused: size / 2, rewritten: size / 200 }
    CAMPAIGN.finish(t, { inputs: size, parsers: PARSERS.length, ...counts }, floors)
  })
})

suite('this campaign finds a parser that', () => {
  const valid = ['{"name":"a","list":[1,2]}']
  const broken: Readonly<Record<string, AttackedParser>> = {
    'throws an error of another kind': {
      name: 'unguarded',
      valid,
      throws: ['SyntaxError'],
      read: (bytes) => (JSON.parse(bytes.toString()).list.length > 0 ? ACCEPTED : ACCEPTED),
    },
    'overflows its stack': {
      name: 'recursive',
      valid,
      throws: ['SyntaxError'],
      read(bytes) {
        const depth = (value: unknown): number => 1 + Math.max(0, ...Object.values(Object(value)).map(depth))
        return depth(JSON.parse(bytes.toString('latin1'))) > 0 ? ACCEPTED : ACCEPTED
      },
    },
    'changes a prototype': {
      name: 'merging',
      valid,
      throws: ['SyntaxError', 'TypeError'],
      read(bytes) {
        const target: Record<string, unknown> = {}
        for (const [key, value] of Object.entries(Object(JSON.parse(bytes.toString()))))
          if (key === '__proto__') Object.assign(Object(target[key]), value)
        return ACCEPTED
      },
    },
    'accepts a value in two forms': {
      name: 'lenient',
      valid: ['17', '4096'],
      read: (bytes) => ({ is: 'accepted', again: String(Number(bytes.toString('latin1'))) }),
    },
  }
  for (const [what, parser] of Object.entries(broken))
    test(what, async () => {
      const random = randomOf(`teeth: ${what}`)
      const counts = { accepted: 0, refused: 0, rewritten: 0 }
      const attacks = async (): Promise<void> => {
        for (let input = 0; input < 5_000; input++) await attack(parser, random, counts, String(input))
      }
      await assert.rejects(attacks, new RegExp(parser.name)).finally(() => {
        Reflect.deleteProperty(Object.prototype, 'polluted')
      })
    })
})
