import { DATASET_PATHS } from '../../protocol/paths.ts'
import type { Html } from '../markup/html.ts'
import { html } from '../markup/html.ts'

/** Elements of a page's head that name the descriptions of all files and columns. */
export const DATASET_LINKS: Html = html`<link
    rel="describedby"
    type="application/json"
    title="Data Package"
    href="${DATASET_PATHS.frictionless}"
  />
  <link rel="describedby" type="application/ld+json" title="DCAT" href="${DATASET_PATHS.dcat}" />`
