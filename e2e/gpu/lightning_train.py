"""A training by PyTorch Lightning with four persistent workers and TensorBoard's log: lightning_train.py [RECORD].

With RECORD, the output of an uninterrupted run of the same program, every loss must be that run's, to the last bit.
"""
import os
import sys
import time
import warnings

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"  # repeatable sums
warnings.filterwarnings("ignore")
sys.path.append("/data/programs/modules")  # of programs-pack
import pytorch_lightning as lightning
import torch
from pytorch_lightning.loggers import TensorBoardLogger
from pytorch_lightning.plugins.environments import LightningEnvironment
from torch import nn

record = [line.split() for line in open(sys.argv[1]) if line.startswith("step ")] if len(sys.argv) > 1 else []


class Samples(torch.utils.data.Dataset):
    def __len__(self):
        return 32 * 1000

    def __getitem__(self, index):
        return torch.randn(1024, generator=torch.Generator().manual_seed(index))


class Training(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(1024, 8192), nn.GELU(), nn.Linear(8192, 1024))

    def training_step(self, batch, _):
        loss = nn.functional.mse_loss(self.model(batch), batch)
        self.log("loss", loss)
        return loss

    def on_train_batch_end(self, outputs, batch, batch_index):
        step, found = self.global_step, float(outputs["loss"]).hex()
        word = "ok" if step > len(record) or record[step - 1][3] == found else f"BAD, {record[step - 1][3]} in the record"
        print(f"step {step} loss {found} {word}", flush=True)
        if record:
            time.sleep(0.1)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), 1e-3)


lightning.seed_everything(7, verbose=False)
loader = torch.utils.data.DataLoader(Samples(), batch_size=32, num_workers=4, persistent_workers=True)
lightning.Trainer(
    accelerator="gpu", devices=1, max_epochs=-1, deterministic=True, enable_progress_bar=False, enable_checkpointing=False,
    enable_model_summary=False, logger=TensorBoardLogger("/tmp/board"), log_every_n_steps=10,
    plugins=[LightningEnvironment()],  # it would start MPI to find out whether there is MPI
).fit(Training(), loader)
