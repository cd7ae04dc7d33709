-- What came back beside the reply that was kept: the model's name as the server gave it, the finish reason, flags.
alter table model_calls add column report json;
