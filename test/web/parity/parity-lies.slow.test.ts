import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../stage/api-stage.ts'
import { cosignNewest } from '../../story/witnesses.ts'
import { LIES } from './page-lies.ts'
import { assertParity, sourcesOf } from './parity.ts'
import { ADDRESSES } from './web-addresses.ts'

type FetchedPage = Readonly<{ address: string; page: string; answers: readonly string[] }>

let stage: ApiStage
const read: FetchedPage[] = []
before(async () => {
  stage = await openApiStage()
  await cosignNewest(stage)
  for (const address of ADDRESSES) {
    const page = await (await stage.get(address)).text()
    const answers: string[] = []
    for (const source of sourcesOf(page)) answers.push(await (await stage.get(source)).text())
    read.push({ address, page, answers })
  }
})
after(() => stage[Symbol.asyncDispose]())

suite('the comparison of pages with their JSON rejects', () => {
  for (const { name, pagesLeast, of } of LIES) {
    test(name, () => {
      let pages = 0
      for (const { address, page, answers } of read) {
        const lies = of(page)
        pages += lies.length > 0 ? 1 : 0
        for (const [index, lie] of lies.entries()) {
          assert.throws(() => assertParity(lie, answers), `${address} passes with falsification ${index}`)
        }
      }
      assert.ok(pages >= pagesLeast, `${pages} pages were falsified, expected ${pagesLeast}`)
    })
  }
})
