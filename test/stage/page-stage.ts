import type { BrowserContextOptions } from 'playwright-core'
import { type ApiStage, openApiStage } from './api-stage.ts'
import { type Browser, type BrowserPage, openBrowser } from './browser.ts'

/** A service with a fixed story, and a browser. */
export type PageStage = AsyncDisposable &
  Readonly<{
    api: ApiStage
    browser: Browser
    /** URL of a path of the service. */
    urlOf(path: string): string
    /** Opens a page of the service. */
    see(path: string, options?: BrowserContextOptions): Promise<BrowserPage>
  }>

export async function openPageStage(settings?: Parameters<typeof openApiStage>[0]): Promise<PageStage> {
  const api = await openApiStage(settings)
  const browser = await openBrowser()
  const urlOf = (path: string): string => `http://127.0.0.1:${api.port}${path}`
  return {
    api,
    browser,
    urlOf,
    see: (path, options) => browser.see(urlOf(path), options),
    async [Symbol.asyncDispose]() {
      await browser[Symbol.asyncDispose]()
      await api[Symbol.asyncDispose]()
    },
  }
}
