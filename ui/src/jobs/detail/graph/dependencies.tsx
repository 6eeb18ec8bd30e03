import type { Job } from "@/jobs/actions/job_actions";

export default function Dependencies({ job }: { job: Job }) {
  return (
    <span id="dependencies" hidden>
      {job.id}
    </span>
  );
}
