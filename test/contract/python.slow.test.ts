import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { suite, test } from 'node:test'
import { skipWithout } from '../processes/test-needs.ts'
import { blocksOf, textOf } from '../stage/document.ts'
import { fetchDescribed } from '../stage/described.ts'
import { openRelay } from '../stage/relay.ts'
import { type Service, startService } from '../stage/service.ts'
import { SAMPLE } from '../stage/places.ts'
import { publishDeposit } from '../stage/command-stage.ts'

const SAMPLE_EVENTS = 2_187

async function paidIn(service: Service): Promise<string> {
  const answer = await fetchDescribed(`${service.url}/api/v1/summary`)
  const { paidInPrizes } = (await answer.json()) as { paidInPrizes: string }
  return paidInPrizes
}

suite('the example in Python', { skip: skipWithout('python3') }, () => {
  const [example, ...others] = blocksOf(textOf('docs/python.md'))

  test('needs the standard library only', () => {
    assert.equal(example?.language, 'python')
    assert.equal(others.length, 0)
    const modules = [...(example?.text ?? '').matchAll(/^(?:import|from) (\w+)/gm)].map(([, name]) => name)
    assert.deepEqual([...new Set(modules)], ['http', 'json', 'time', 'urllib'])
  })

  test('sums payments exactly, then prints each new event once, across a broken connection', async () => {
    await using service = await startService({ drafts: SAMPLE })
    await using relay = await openRelay(service.url)
    const text = (example?.text ?? '').replace('http://127.0.0.1:8080', relay.url)
    assert.notEqual(text, example?.text)
    const child = spawn('python3', ['-c', text], { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(child, 'close')
    try {
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
      assert.equal((await lines.next()).value, await paidIn(service))
      for (const [index, ref] of ['python-1', 'python-2', 'python-3'].entries()) {
        const seq = await publishDeposit(service, ref)
        assert.equal(seq, SAMPLE_EVENTS + index + 1)
        assert.equal((await lines.next()).value, `${seq} treasury 1.000000000`)
        if (index === 0) relay.cut()
      }
    } finally {
      child.kill()
      await ended
    }
  })
})
