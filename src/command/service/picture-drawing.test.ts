import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { countPixels, decodePng } from '../../../test/web/png.ts'
import { openPictureDrawing } from './picture-drawing.ts'

const svgOf = (text: string): Uint8Array =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="630"><rect width="100%" height="100%" fill="#fff"/><text x="50" y="300" font-family="Source Serif 4" font-weight="700" font-size="90">${text}</text></svg>`,
  )

/** Part of a drawing's processor time that the thread that asks may spend. */
const OWN_PART_MAX = 0.25

suite('the thread that draws pictures', () => {
  const drawing = openPictureDrawing()
  after(() => drawing[Symbol.asyncDispose]())

  test('draws text in the bundled font, and states its processor time', async () => {
    const { value, tookMs } = await drawing.draw(svgOf('124 of 130'))
    const pixels = decodePng(value)
    assert.ok(tookMs > 0)
    assert.ok(countPixels(pixels, [50, 200, 600, 320], [0, 0, 0]) > 4_000)
    const blank = decodePng((await drawing.draw(svgOf(''))).value)
    assert.equal(countPixels(blank, [0, 0, 1200, 630], [255, 255, 255]), 1200 * 630)
  })

  test('leaves the thread that asks free', async () => {
    await drawing.draw(svgOf('first'))
    const before = process.threadCpuUsage()
    let drawnMs = 0
    for (let one = 0; one < 10; one++) drawnMs += (await drawing.draw(svgOf(`picture ${one}`))).tookMs
    // Processor time does not depend on what else the machine does.
    const { user, system } = process.threadCpuUsage(before)
    const ownMs = (user + system) / 1_000
    assert.ok(ownMs < drawnMs * OWN_PART_MAX, `${ownMs} ms beside ${drawnMs} ms`)
  })

  test('fails for what is no SVG, and draws the next one', async () => {
    await assert.rejects(drawing.draw(Buffer.from('<svg')))
    assert.equal(decodePng((await drawing.draw(svgOf('next'))).value).width, 1200)
  })

  test('reads no file that an SVG names', async () => {
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><rect width="10" height="10" fill="#fff"/><image href="/etc/hostname" width="10" height="10"/></svg>`
    const pixels = decodePng((await drawing.draw(Buffer.from(svg))).value)
    assert.equal(countPixels(pixels, [0, 0, 10, 10], [255, 255, 255]), 100)
  })

  test('ends when it is idle, and starts again', async () => {
    await using short = openPictureDrawing(1)
    const first = await short.draw(svgOf('one'))
    await new Promise((resolve) => setTimeout(resolve, 20))
    assert.deepEqual((await short.draw(svgOf('one'))).value, first.value)
  })

  test('keeps no process alive', async () => {
    const module = JSON.stringify(pathToFileURL(join(import.meta.dirname, 'picture-drawing.ts')))
    const svg = JSON.stringify(Buffer.from(svgOf('one')).toString())
    const script = `import(${module}).then(({ openPictureDrawing }) => openPictureDrawing().draw(Buffer.from(${svg})))`
    // An idle thread ends by itself after a minute.
    await promisify(execFile)(process.execPath, ['-e', script], { timeout: 45_000 })
  })
})
