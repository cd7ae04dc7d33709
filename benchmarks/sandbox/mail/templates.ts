import {
  archiveEmail,
  deleteEmail,
  labelEmail,
  moveEmail,
  readFact,
  starEmail,
} from './message-templates.ts';
import { addContact, createFilter, setVacation } from './settings-templates.ts';
import type { MailTemplate } from './target.ts';
import { forwardEmail, replyEmail, sendEmail } from './writing-templates.ts';

export const mailTemplates: readonly MailTemplate[] = [
  starEmail,
  archiveEmail,
  readFact,
  deleteEmail,
  labelEmail,
  moveEmail,
  replyEmail,
  sendEmail,
  addContact,
  setVacation,
  createFilter,
  forwardEmail,
];
