import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page, Route } from 'playwright-core'

/** Part of a log that the form checks. */
type Subject = 'growth' | 'event' | 'month' | 'file' | 'log'

/** Runs a check to its end and returns its steps, such as `verified signature`. */
export async function check(page: Page, subject: Subject, value?: string): Promise<readonly string[]> {
  const form = page.locator('form[data-verify]')
  await form.locator(`[type=radio][value=${subject}]`).check()
  if (value !== undefined) await form.locator(`li:has([value=${subject}]) input`).last().fill(value)
  await form.locator('.main').click()
  await form.locator('ol:not([aria-busy=true]) li').first().waitFor()
  const lines = await form.locator('li:has(> b)').allInnerTexts()
  return lines.map((line) => /^. (.*?):/.exec(line)?.[1] ?? line)
}

/** Chooses a file in the form. */
export function choose(page: Page, buffer: Buffer | string): Promise<void> {
  const file = { name: 'chosen', mimeType: 'text/plain', buffer: Buffer.from(buffer) }
  return page.locator('form[data-verify] [type=file]').setInputFiles(file)
}

/** Steps of the last check in full, and its first line. */
export const stepsOn = (page: Page): Promise<string> => page.locator('form[data-verify] ol').innerText()
export const verdictOn = (page: Page): Promise<string> => page.locator('form[data-verify] output').innerText()

/** Saves the verifier of a service to a folder. Returns its address there. */
export async function savedVerifier(base: string, folder: string): Promise<string> {
  const path = join(folder, 'daybook-verify.html')
  await writeFile(path, await (await fetch(`${base}/verify/daybook-verify.html`)).text())
  return pathToFileURL(path).href
}

/** Answers like the service, with some answers changed. */
export const altered =
  (change: (body: Buffer) => Buffer) =>
  async (route: Route): Promise<void> => {
    const response = await route.fetch()
    await route.fulfill({ response, body: change(await response.body()) })
  }

export const replaced = (from: string | RegExp, to: string): ((route: Route) => Promise<void>) =>
  altered((body) => {
    const text = body.toString('utf8')
    assert.notEqual(text.replace(from, to), text)
    return Buffer.from(text.replace(from, to))
  })
