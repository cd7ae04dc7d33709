import {
  closeIssue,
  closeTogether,
  commentIssue,
  labelIssue,
  markDuplicate,
  readIssue,
  watchIssue,
} from './issue-templates.ts';
import { assignIssue, createIssue, setDueDate, setPriority, triageIssue } from './planning-templates.ts';
import { countMilestone, editProject, inviteMember } from './project-templates.ts';
import type { TrackerTemplate } from './target.ts';

export const trackerTemplates: readonly TrackerTemplate[] = [
  watchIssue,
  assignIssue,
  readIssue,
  setPriority,
  commentIssue,
  closeIssue,
  labelIssue,
  setDueDate,
  closeTogether,
  inviteMember,
  createIssue,
  triageIssue,
  countMilestone,
  editProject,
  markDuplicate,
];
