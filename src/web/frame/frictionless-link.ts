import { FRICTIONLESS_PATH } from '../../protocol/paths.ts'
import { type Html, html } from '../markup/html.ts'

/** Element of a page's head that names the description of all files and columns. */
export const FRICTIONLESS_LINK: Html = html`<link
  rel="describedby"
  type="application/json"
  title="Data Package"
  href="${FRICTIONLESS_PATH}"
/>`
